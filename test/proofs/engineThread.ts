import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type StartEngine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';

/** Distinguishes the thread that this file starts from others that import it. */
const ENGINE_THREAD = 'petstore:engine';

/** Runs dynalite in its own thread, so that the memory of this one is that of the service alone. */
export const startEngineThread: StartEngine = async ({ dir, enginePort }) => {
  const thread = new Worker(new URL(import.meta.url), { workerData: ENGINE_THREAD });
  thread.postMessage({ dir, enginePort });
  // Rejects with the reason if the engine cannot start.
  const [endpoint] = await once(thread, 'message');
  return {
    endpoint,
    async close() {
      thread.postMessage('close');
      await once(thread, 'exit');
    },
  };
};

if (parentPort && workerData === ENGINE_THREAD) {
  const [options] = await once(parentPort, 'message');
  const engine = await startEmbeddedEngine(options);
  const isToClose = once(parentPort, 'message');
  parentPort.postMessage(engine.endpoint);
  await isToClose;
  await engine.close();
  process.exit();
}
