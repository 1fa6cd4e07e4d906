import { beforeAll, vi } from 'vitest';

/**
 * Has the SDK, and whoever else draws the pauses between attempts at random, draw the shortest: none. What is
 * tested so shows which calls are repeated, how often, and how that ends; not that there are pauses, nor how
 * long they last.
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
