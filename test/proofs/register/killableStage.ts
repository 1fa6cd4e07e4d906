import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Engine, StartEngine } from '../../../infra/local/engine/engine.ts';

/** The local stage, from one start to its end. */
export interface Run {
  readonly baseUrl: string;
  readonly apiKey: string;
  isKilled: boolean;
}

export type KillableStage = ReturnType<typeof startKillableStage>;

const root = join(import.meta.dirname, '../../..');

/**
 * The local stage on a folder, as a process of its own that dies and comes back.
 * @param startEngine starts an engine in a process of its own, which is killed with the stage; by default it is part of it
 */
export function startKillableStage(folder: string, startEngine?: StartEngine) {
  let child: ChildProcess | undefined;
  let engine: Engine | undefined;
  let run = start();
  // Before its folder goes.
  process.prependOnceListener('exit', () => child?.kill('SIGKILL'));

  async function start(): Promise<Run> {
    engine = await startEngine?.({ dir: folder });
    const command = engine
      ? ['test/proofs/register/stageProcess.ts', engine.endpoint]
      : ['infra/local/main.ts', '--dir', folder, '--port', '0'];
    child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    return untilReady(child);
  }

  async function kill(): Promise<void> {
    if (!child) return;
    const exited = hasEnded(child) || once(child, 'exit');
    child.kill('SIGKILL');
    await engine?.close();
    await exited;
  }

  return {
    /** The run that answers, as soon as one does. Rejects when the stage cannot start. */
    run: () => run,
    /**
     * Kills it without a warning (SIGKILL) and starts it again on the same folder.
     * @throws {Error} when it has ended by itself
     */
    async killAndStart(): Promise<void> {
      const killed = await run;
      if (!child || hasEnded(child)) throw new Error('The stage ended by itself.');
      killed.isKilled = true;
      const { promise, resolve } = Promise.withResolvers<Run>();
      run = promise;
      await kill();
      resolve(start());
      await run;
    },
    /** Ends it for good. */
    end: kill,
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function untilReady(child: ChildProcess): Promise<Run> {
  let output = '';
  const ready = Promise.withResolvers<Run>();
  child.stdout?.on('data', (data) => {
    output += data;
    const [, baseUrl, apiKey] = /^Base address: (\S+)\nAPI key: (\S+)\n/.exec(output) ?? [];
    if (baseUrl && apiKey) ready.resolve({ baseUrl, apiKey, isKilled: false });
  });
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors = `${errors}${data}`.slice(-1_000);
  });
  child.once('exit', (status, signal) => {
    ready.reject(
      new Error(`The stage did not start: it ended with ${signal ?? status}. ${errors}`),
    );
  });
  // Nobody may be waiting for it any more.
  ready.promise.catch(() => {});
  return ready.promise;
}
