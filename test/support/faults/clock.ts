import { stat } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { afterAll, beforeAll, vi } from 'vitest';

const waitForReal = globalThis.setTimeout;

/** Milliseconds of the clock after which it stops: code that still waits would wait forever, so the test times out. */
const MAX_MILLISECONDS = 120_000;

/**
 * Runs `act` on a clock that is some twenty times as fast, for code that waits for time limits. Timers, dates and
 * `performance.now()` of the whole process use this clock, so limits and measured times keep their length and order.
 * The clock advances at most one step for each turn of the event loop and of the threads that read files. On a busy
 * machine it is slow too, so that nothing times out for lack of a turn.
 *
 * Responses from another process, or after more than some tens of turns, are late on this clock. Use it for calls
 * that fail and for engines in this process. Timers that are left when it ends never fire, so code that waits for
 * one belongs inside. Do not use it in concurrent tests, which would share the clock. It does not speed up limits
 * of Node or the system, such as those of a socket.
 * @param step milliseconds of the clock for one of the real clock, or more. With 1 the clock is never fast: use it
 *   for work that must end within a limit on any busy machine.
 */
export async function onFastClock<T>(act: () => Promise<T>, step = 20): Promise<T> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  try {
    let isOver = false;
    const acting = act().finally(() => {
      isOver = true;
    });
    acting.catch(() => {});
    for (let time = 0; time < MAX_MILLISECONDS && !isOver; time += step) {
      await vi.advanceTimersByTimeAsync(step);
      await Promise.all([
        new Promise((resolve) => waitForReal(resolve, 1)),
        stat(import.meta.filename),
      ]);
    }
    return await acting;
  } finally {
    vi.useRealTimers();
  }
}

/** Skips all pauses of `node:timers/promises`, until the file's tests end. Time limits keep their length. */
export function skipPauses(): void {
  const pauses = vi.spyOn(timers, 'setTimeout').mockResolvedValue(undefined);
  // Modules that import it by name see the change, and its end.
  syncBuiltinESMExports();
  afterAll(() => {
    pauses.mockRestore();
    syncBuiltinESMExports();
  });
}

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
