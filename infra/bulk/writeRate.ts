import { setTimeout } from 'node:timers/promises';
import type { Item } from './resources.ts';

/** A bound on the write request units used in a second. */
export interface WriteRate {
  /** Waits until the units may be used. @throws the signal's reason */
  take(units: number): Promise<void>;
}

/** Spreads the units evenly over time, so that no second gets more than the bound. */
export function defineWriteRate(unitsPerSecond: number, signal: AbortSignal): WriteRate {
  let free = performance.now();
  return {
    async take(units) {
      signal.throwIfAborted();
      const now = performance.now();
      const turn = Math.max(free, now);
      free = turn + (units / unitsPerSecond) * 1_000;
      if (turn > now) await setTimeout(turn - now, undefined, { signal });
    },
  };
}

/**
 * The write request units that items take: one for each KB begun. Their JSON has more bytes than
 * DynamoDB counts, so this is at times too many and never too few.
 */
export function countWriteUnits(items: readonly Item[]): number {
  return items.reduce(
    (units, item) => units + Math.ceil(Buffer.byteLength(JSON.stringify(item)) / 1_024),
    0,
  );
}
