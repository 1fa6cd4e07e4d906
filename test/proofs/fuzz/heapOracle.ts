import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How much more may be in use in the last third of a run than in the second. */
const MAX_GROWTH = 8 * 1024 * 1024;
/** Fewer tell a trend from chance only where it is steep. */
const MIN_SAMPLES = 9;

/**
 * Memory is flat if the median of the last third of the samples is at most 8 MB above that of the second;
 * the first third is for caches to fill.
 */
export function findHeapProblems(samples: readonly number[]): string[] {
  if (samples.length < MIN_SAMPLES) return [];
  const third = Math.floor(samples.length / 3);
  const growth =
    median(samples.slice(-third)) - median(samples.slice(third, samples.length - third));
  if (growth <= MAX_GROWTH) return [];
  return [
    `heap: ${(growth / 1024 / 1024).toFixed(1)} MB more in the last third than in the second`,
  ];
}

/**
 * Bytes in use after a collection, buffers outside of V8's heap included, in this thread, where gateway and
 * functions are, and not the engine.
 */
export function measureHeap(): number {
  collect ??= exposeCollection();
  // Buffers outside of the heap go by the collection after the one that found them unused.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

let collect: (() => void) | undefined;

/** No process has to be started with a flag for it. */
function exposeCollection(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
