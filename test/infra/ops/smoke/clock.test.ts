import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../infra/ops/smoke/asking/clock.ts';

describe('the clock', () => {
  it('tells how long it slept', async () => {
    const before = systemClock.now();
    await systemClock.sleep(50, new AbortController().signal);
    // A timer may be early by a part of a millisecond.
    expect(systemClock.now() - before).toBeGreaterThanOrEqual(49);
  });

  it('wakes when the run is over', async () => {
    const over = AbortSignal.timeout(10);
    await expect(systemClock.sleep(3_600_000, over)).rejects.toThrow('aborted');
  });
});
