import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Bytes in use after a collection, buffers outside of V8's heap included, in this thread, where gateway and
 * functions are, and not the engine.
 */
export async function measureHeap(): Promise<number> {
  // No process has to be started with a flag for it.
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // What a collection finalizes, such as buffers outside of the heap, is garbage only to the next.
  for (let times = 0; times < 3; times += 1) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
