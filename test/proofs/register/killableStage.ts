import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The local stage, from one start to its end. */
export interface Run {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The requests, by their `X-Request-Id`, that it logged as done, whatever their client has heard. */
  readonly done: ReadonlySet<string>;
  isKilled: boolean;
}

/** The local stage on a folder, as a process of its own that dies and comes back. */
export interface KillableStage {
  /** The run that answers, as soon as one does. Rejects when the stage cannot start. */
  run(): Promise<Run>;
  /**
   * Kills it without a warning (SIGKILL) and starts it again on the same folder.
   * @throws {Error} when it has ended by itself
   */
  killAndStart(): Promise<void>;
  /** Ends it for good. */
  end(): Promise<void>;
}

const root = join(import.meta.dirname, '../../..');

export function startKillableStage(folder: string): KillableStage {
  let child = spawnStage(folder);
  let run = untilReady(child);
  // Before its folder goes.
  process.prependOnceListener('exit', () => child.kill('SIGKILL'));

  async function kill(): Promise<void> {
    // When all that it logged has been read.
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  return {
    run: () => run,
    async killAndStart() {
      const killed = await run;
      if (hasEnded(child)) throw new Error('The stage ended by itself.');
      killed.isKilled = true;
      const { promise, resolve } = Promise.withResolvers<Run>();
      run = promise;
      await kill();
      child = spawnStage(folder);
      resolve(untilReady(child));
      await run;
    },
    async end() {
      if (!hasEnded(child)) await kill();
    },
  };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
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
  let log = '';
  let told = '';
  const done = new Set<string>();
  const ready = Promise.withResolvers<Run>();
  child.stdout?.on('data', (data) => {
    output += data;
    const [, baseUrl, apiKey] = /^Base address: (\S+)\nAPI key: (\S+)\n/.exec(output) ?? [];
    if (baseUrl && apiKey) ready.resolve({ baseUrl, apiKey, done, isKilled: false });
  });
  child.stderr?.on('data', (data) => {
    log += data;
    told = `${told}${data}`.slice(-1_000);
    for (const [, id = ''] of log.matchAll(/"clientRequestId":"([^"]+)".*\n/g)) done.add(id);
    log = log.slice(log.lastIndexOf('\n') + 1);
  });
  child.once('exit', (status, signal) => {
    ready.reject(new Error(`The stage did not start: it ended with ${signal ?? status}. ${told}`));
  });
  // Nobody may be waiting for it any more.
  ready.promise.catch(() => {});
  return ready.promise;
}
