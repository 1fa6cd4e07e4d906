import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The local stage, from one start to its end. */
export interface Run {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** When it was killed, as `performance.now` has it. */
  killedAt?: number;
}

/** The local stage on a folder, as a process of its own that dies and comes back. */
export interface KillableStage {
  /** The run that answers, as soon as one does. Rejects when the stage cannot start or ends by itself. */
  run(): Promise<Run>;
  /** Kills it without a warning (SIGKILL) and starts it again on the same folder. */
  killAndStart(): Promise<void>;
  /** Ends it for good. */
  end(): Promise<void>;
}

const root = join(import.meta.dirname, '../../..');

export function startKillableStage(folder: string): KillableStage {
  let child = spawnStage(folder);
  let run = untilReady(child);

  async function kill(): Promise<void> {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  return {
    run: () => run,
    async killAndStart() {
      const killed = await run;
      killed.killedAt = performance.now();
      const { promise, resolve } = Promise.withResolvers<Run>();
      run = promise;
      await kill();
      child = spawnStage(folder);
      resolve(untilReady(child));
      await run;
    },
    async end() {
      if (child.exitCode === null && child.signalCode === null) await kill();
    },
  };
}

function spawnStage(folder: string): ChildProcess {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, ['infra/local/main.ts', '--dir', folder, '--port', '0'], {
    cwd: root,
    env: { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function untilReady(child: ChildProcess): Promise<Run> {
  let output = '';
  let errors = '';
  const ready = Promise.withResolvers<Run>();
  child.stdout?.on('data', (data) => {
    output += data;
    const [, baseUrl, apiKey] = /^Base address: (\S+)\nAPI key: (\S+)\n/.exec(output) ?? [];
    if (baseUrl && apiKey) ready.resolve({ baseUrl, apiKey });
  });
  // Its log, of which the end tells why it could not start.
  child.stderr?.on('data', (data) => {
    errors = `${errors}${data}`.slice(-1_000);
  });
  child.once('exit', (status, signal) => {
    ready.reject(new Error(`The stage did not start (${signal ?? status}): ${errors}`));
  });
  return ready.promise;
}
