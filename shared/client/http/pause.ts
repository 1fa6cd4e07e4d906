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

/** Milliseconds. */
const LONGEST_BACKOFF = 5_000;

/**
 * Milliseconds to wait: at random up to `first`, and up to twice as many after each further attempt, so
 * that clients that met do not meet again. This is full jitter:
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param attempt counted from 0
 */
export function drawBackoff(first: number, attempt: number): number {
  return Math.random() * Math.min(first * 2 ** attempt, LONGEST_BACKOFF);
}
