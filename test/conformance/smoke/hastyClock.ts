import type { Clock } from '../../../infra/ops/smoke/asking/clock.ts';

/** On which time passes by sleeping alone, and a sleep is over at once: requests take no time at all. */
export function defineHastyClock(): Clock {
  let now = 0;
  return {
    now: () => now,
    async sleep(milliseconds, signal) {
      signal.throwIfAborted();
      now += milliseconds;
    },
  };
}
