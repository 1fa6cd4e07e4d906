import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { StartEngine } from './engine.ts';

/** A quarter of Node.js's default, since at the peak of a load two threads use more memory than one. */
const YOUNG_MEGABYTES = 12;

/** Distinguishes the thread that this file starts from others that import it. */
const ENGINE_THREAD = 'petstore:engine';

/**
 * Runs dynalite in its own thread, parallel to the requests from this one. The thread begins to load at once. From the
 * engine's start on, it keeps the process alive.
 */
export function defineEngineThread() {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: ENGINE_THREAD,
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MEGABYTES },
  });
  thread.unref();
  const crash = Promise.withResolvers<never>();

  const startEngine: StartEngine = async ({ dir, enginePort }) => {
    thread.ref();
    thread.postMessage({ dir, enginePort });
    // Rejects with the reason if the engine cannot start.
    const [endpoint] = await once(thread, 'message');
    thread.once('error', ({ message }: Error) =>
      crash.reject(new Error(`The embedded DynamoDB has crashed, so the stage ends: ${message}`)),
    );
    return {
      endpoint,
      async close() {
        thread.postMessage('close');
        await once(thread, 'exit');
      },
    };
  };
  return {
    startEngine,
    /** Rejects if the engine ends by itself. */
    crash: crash.promise,
  };
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
