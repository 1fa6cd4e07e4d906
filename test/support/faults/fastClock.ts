import { vi } from 'vitest';

const waitForReal = globalThis.setTimeout;

/** Milliseconds by which the clock goes on at a time; a step takes one of the real clock's, or more. */
const STEP = 20;
/** Milliseconds of the clock after which it stops: whoever still waits has no end, and the test's own time runs. */
const LONGEST = 120_000;

/**
 * Does what waits for time limits on a clock that goes some twenty times as fast: timers, dates and
 * `performance.now()` of this whole process agree on it, so that limits and what a test measures keep their
 * lengths and their order. A turn of the event loop is at most `STEP`: on a busy machine the clock is slow
 * too, and nobody seems silent who only had no turn.
 *
 * Whatever answers from another process, or takes more than some tens of turns, is late on this clock: it is
 * for calls that fail, and engines in this process. A timer that is left when it ends never rings, so whatever
 * waits for one belongs inside. Not for tests that run beside others, which would share the clock; nor for a
 * limit that Node or the system keeps, as of a socket, which it does not hasten.
 */
export async function onFastClock<T>(act: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  try {
    let isOver = false;
    const acting = act().finally(() => {
      isOver = true;
    });
    acting.catch(() => {});
    for (let time = 0; time < LONGEST && !isOver; time += STEP) {
      await vi.advanceTimersByTimeAsync(STEP);
      await new Promise((resolve) => waitForReal(resolve, 1));
    }
    return await acting;
  } finally {
    vi.useRealTimers();
  }
}
