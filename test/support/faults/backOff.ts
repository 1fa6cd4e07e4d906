import { beforeAll, vi } from 'vitest';

/**
 * Makes every randomly drawn pause between attempts, of the SDK and of other code, as short as possible: none. Such
 * tests show which calls are retried, how often and with what result; not that there are pauses, or how long.
 * @returns a function that ends it
 */
export function skipBackOff(): () => void {
  const draw = vi.spyOn(Math, 'random').mockReturnValue(0);
  return () => draw.mockRestore();
}

/** As `skipBackOff`, for the surrounding group's tests and for its later hooks. */
export function useNoBackOff(): void {
  // vitest runs the returned function after the last test.
  beforeAll(skipBackOff);
}
