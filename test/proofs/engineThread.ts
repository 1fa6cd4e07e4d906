import { once } from 'node:events';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type StartEngine, startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { definePutItems } from '../support/engines.ts';

/** Runs dynalite in its own thread, so that the memory of this one is that of the service alone. */
export const startEngineThread: StartEngine = async () => {
  const thread = new Worker(new URL(import.meta.url), { workerData: { isEngine: true } });
  // Rejects with the reason if the engine cannot start.
  const [endpoint] = await once(thread, 'message');
  return {
    endpoint,
    putItems: definePutItems(endpoint),
    async close() {
      thread.postMessage('close');
      await once(thread, 'exit');
    },
  };
};

// In that thread.
if (parentPort && workerData?.isEngine) {
  const { endpoint, close } = await startEmbeddedEngine();
  parentPort.postMessage(endpoint);
  await once(parentPort, 'message');
  await close();
  process.exit();
}
