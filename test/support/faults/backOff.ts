import { beforeAll, vi } from 'vitest';

/**
 * Has the SDK, and whoever else draws the pauses between attempts at random, draw the shortest: none. What is
 * tested so shows which calls are repeated, how often, and how that ends; not that there are pauses, nor how
 * long they last. Not for tests in which attempts of one update with an idempotency key meet, which
 * `shared/store/requestStore.ts` tells apart by what it draws.
 * @returns ends it
 */
export function skipBackOff(): () => void {
  const draw = vi.spyOn(Math, 'random').mockReturnValue(0);
  return () => draw.mockRestore();
}

/** As `skipBackOff`, for the surrounding group's tests and for what they are prepared by from here on. */
export function useNoBackOff(): void {
  // What it returns is run after the last test.
  beforeAll(skipBackOff);
}
