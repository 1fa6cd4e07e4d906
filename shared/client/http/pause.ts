/** Waits, or until the signal is aborted: whatever comes next looks at it. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      resolve();
    };
    const timer = setTimeout(stop, milliseconds);
    signal?.addEventListener('abort', stop);
    if (signal?.aborted) stop();
  });
}

/** Milliseconds: hardly felt by two clients that meet, and soon long enough for fifty. */
const FIRST_BACKOFF = 200;
const LONGEST_BACKOFF = 5_000;

/**
 * Milliseconds that grow with each attempt and are drawn at random, so that clients that met do not meet
 * again ("full jitter": https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 * @param attempt counted from 0
 */
export function drawBackoff(attempt: number): number {
  return Math.random() * Math.min(FIRST_BACKOFF * 2 ** attempt, LONGEST_BACKOFF);
}
