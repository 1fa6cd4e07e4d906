import type { OperationId } from '../../../../shared/contract/operations.ts';
import type { StageSettings } from '../../../stages/stageSettings.ts';
import type { Clock } from './clock.ts';

export type Throttles = StageSettings['throttles'];

/** Keeps the requests of a run within a stage's throttles. */
export interface Pace {
  /** Waits for the next moment that the gateway lets such a request through. */
  wait(of: OperationId | 'other', signal: AbortSignal): Promise<void>;
}

/** @param throttles of the stage; without any, nothing waits */
export function definePace(throttles: Throttles | undefined, clock: Clock): Pace {
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    async wait(of, signal) {
      if (!throttles) return;
      const { rate, burst } = throttles[of];
      // One less than the gateway has: requests do not all take equally long to reach it.
      const most = Math.max(burst - 1, 1);
      const { tokens, at } = buckets.get(of) ?? { tokens: most, at: clock.now() };
      const now = clock.now();
      const left = Math.min(most, tokens + ((now - at) / 1_000) * rate) - 1;
      buckets.set(of, { tokens: left, at: now });
      if (left < 0) await clock.sleep((-left / rate) * 1_000, signal);
    },
  };
}
