import type { Call } from './call.ts';
import { PetstoreError } from './petstoreError.ts';

/** Milliseconds. */
const FIRST_BACKOFF = 200;
const MAX_BACKOFF = 5_000;

/**
 * Tries again what may go better another time, after a pause that is never shorter than `Retry-After`.
 * @param isRepeatable whether it may be sent again though an earlier attempt may have had its effect
 * @throws {PetstoreError} of the last attempt when there are no retries left, or no time for another
 */
export async function withRetries<Value>(
  call: Call,
  isRepeatable: boolean,
  attempt: () => Promise<Value>,
): Promise<Value> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof PetstoreError) || retries === call.maxRetries) throw error;
      if (!isRetryable(error, isRepeatable)) throw error;
      const { retryAfter = 0 } = error;
      const delay = retryAfter * 1_000 + drawBackoff(FIRST_BACKOFF, retries);
      if (delay >= call.timeLeft()) throw error;
      await pause(delay, call.signal);
    }
  }
}

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

/**
 * Milliseconds to wait: at random up to `first`, and up to twice as many after each further attempt, so
 * that clients that met do not meet again. This is full jitter:
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param attempt counted from 0
 */
export function drawBackoff(first: number, attempt: number): number {
  return Math.random() * Math.min(first * 2 ** attempt, MAX_BACKOFF);
}

/** A 429 is the one failure of which it is known that nothing has happened, and that it passes. */
function isRetryable({ code, status = 0 }: PetstoreError, isRepeatable: boolean): boolean {
  if (status === 429) return true;
  return isRepeatable && (status >= 500 || passing.includes(code));
}

const passing: readonly string[] = ['connection_failed', 'timeout', 'incomplete_list'];
