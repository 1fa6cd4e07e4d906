import { setTimeout } from 'node:timers/promises';

/** By which requests are paced. */
export interface Clock {
  /** Milliseconds since some moment. */
  now(): number;
  /** @throws the signal's reason, or what tells that it was aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (milliseconds, signal) => setTimeout(milliseconds, undefined, { signal }),
};
