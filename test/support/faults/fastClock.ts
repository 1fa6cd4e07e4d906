import { stat } from 'node:fs/promises';
import { vi } from 'vitest';

const waitForReal = globalThis.setTimeout;

/** Milliseconds of the clock after which it stops: whoever still waits has no end, and the test's own time runs. */
const MAX_MILLISECONDS = 120_000;

/**
 * Does what waits for time limits on a clock that goes some twenty times as fast: timers, dates and
 * `performance.now()` of this whole process agree on it, so that limits and what a test measures keep their
 * lengths and their order. It goes on by one step a turn of the event loop and of the threads that read files,
 * and no faster: on a busy machine the clock is slow too, and nobody seems silent who only had no turn.
 *
 * Whatever answers from another process, or takes more than some tens of turns, is late on this clock: it is
 * for calls that fail, and engines in this process. A timer that is left when it ends never fires, so whatever
 * waits for one belongs inside. Not for tests that run beside others, which would share the clock; nor for a
 * limit that Node or the system keeps, as of a socket, which it does not hasten.
 * @param step milliseconds of the clock for one of the real clock's, or more; with 1 it is never fast, for what
 *   must be done within a limit however busy the machine is
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
