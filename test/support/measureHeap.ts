import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes in use after a collection, with buffers outside V8's heap, in this thread: it has the gateway and the
 * functions, but not the engine.
 */
export async function measureHeap(): Promise<number> {
  // So processes can start without this flag.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Finalized objects, such as buffers outside the heap, are garbage only in the next collection.
  for (let times = 0; times < 3; times += 1) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
