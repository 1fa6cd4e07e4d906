import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Engine, EngineOptions, StartEngine } from './engine.ts';

/** A quarter of Node.js's default, since at the peak of a load two threads use more memory than one. */
const YOUNG_MEGABYTES = 12;

/** Distinguishes the thread that this file starts from others that import it. */
const ENGINE_THREAD = 'petstore:engine';

/**
 * Runs dynalite in its own thread, parallel to the requests from this one. The thread begins to load at once. From the
 * engine's start on, it keeps the process alive.
 */
export function defineEngineThread(): { readonly startEngine: StartEngine } {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: ENGINE_THREAD,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  thread.unref();
  const crash = new AbortController();
  const crashed = new Promise<never>((_, reject) => {
    crash.signal.onabort = () => reject(crash.signal.reason);
  });
  crashed.catch(() => {});
  let isReady = false;
  let isClosing = false;
  thread.once('error', (error: Error) => {
    // Before that, it says why the engine cannot start.
    crash.abort(isReady ? toCrash(error.message) : error);
  });
  const exited = new Promise<void>((resolve) => {
    thread.once('exit', (status) => {
      // If its store fails, dynalite ends its thread without a reason.
      if (!isClosing || status !== 0) crash.abort(toCrash(`it ended with status ${status}`));
      resolve();
    });
  });

  async function close(): Promise<void> {
    isClosing = true;
    thread.postMessage('close');
    await exited;
    crash.signal.throwIfAborted();
  }

  return {
    async startEngine({ dir, enginePort }: EngineOptions): Promise<Engine> {
      thread.ref();
      thread.postMessage({ dir, enginePort });
      const ready = new Promise<string>((resolve) => thread.once('message', resolve));
      const endpoint = await Promise.race([ready, crashed]);
      isReady = true;
      return { endpoint, crash: crash.signal, close };
    },
  };
}

function toCrash(reason: string): Error {
  const line = reason.replaceAll(/\s+/g, ' ');
  return new Error(`The embedded DynamoDB has crashed, so the stage ends: ${line}`);
}

if (parentPort && workerData === ENGINE_THREAD) {
  const { startEmbeddedEngine } = await import('./engine.ts');
  const [options] = await once(parentPort, 'message');
  const engine = await startEmbeddedEngine(options);
  const isToClose = once(parentPort, 'message');
  parentPort.postMessage(engine.endpoint);
  await isToClose;
  await engine.close();
  process.exit();
}
