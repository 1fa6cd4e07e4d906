import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Failure } from './failure.ts';

/** How much more may be in use in the last third of a run than in the second. */
const MOST_GROWTH = 8 * 1024 * 1024;
/** Fewer tell a trend from chance only where it is steep. */
const FEWEST_SAMPLES = 9;

/**
 * Memory stays flat when, after a collection, the median of the last third of the samples is at most
 * 8 MB above that of the second; the first third is for caches to fill. It counts what V8 holds, buffers
 * outside of its heap included, of this thread, where gateway and functions are, and not the engine.
 */
export function defineHeapOracle(readBytes: () => number = measureHeap) {
  const samples: number[] = [];
  return {
    samples: (): readonly number[] => samples,
    sample(): void {
      samples.push(readBytes());
    },
    judge(): Failure[] {
      if (samples.length < FEWEST_SAMPLES) return [];
      const third = Math.floor(samples.length / 3);
      const growth =
        toMedian(samples.slice(-third)) - toMedian(samples.slice(third, samples.length - third));
      if (growth <= MOST_GROWTH) return [];
      const megabytes = (growth / 1024 / 1024).toFixed(1);
      return [
        { oracle: 'heap', problem: `${megabytes} MB more in the last third than in the second.` },
      ];
    },
  };
}

/** Bytes in use after a collection. */
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

function toMedian(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
