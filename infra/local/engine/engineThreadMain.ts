import { once } from 'node:events';
import { parentPort } from 'node:worker_threads';
import { startEmbeddedEngine } from './engine.ts';

// Null on the main thread, on which nobody runs this.
if (parentPort) {
  const [options] = await once(parentPort, 'message');
  const engine = await startEmbeddedEngine(options);
  const isToClose = once(parentPort, 'message');
  parentPort.postMessage(engine.endpoint);
  await isToClose;
  await engine.close();
  process.exit();
}
