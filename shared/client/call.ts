import type { OperationId } from '../contract/operations.ts';
import {
  attemptRequest,
  type Exchange,
  type PetstoreRequest,
  type WholeResponse,
} from './attempt.ts';
import { PetstoreError } from './petstoreError.ts';
import type { Call } from './settings.ts';

/**
 * Sends a request, retries temporary failures, after a pause of at least `Retry-After`, and reads the response.
 * @param toValue converts the response; any error from it means that the response is invalid
 * @throws {PetstoreError} of the last attempt if no retries or no time are left
 */
export async function send<Id extends OperationId, Value>(
  call: Call,
  request: PetstoreRequest<Id>,
  toValue: (whole: WholeResponse) => Value,
): Promise<Value> {
  const exchange = { call, request, attempts: 0, apiKey: undefined, unknownAttempt: 0 };
  for (let retries = 0; ; ) {
    try {
      return await attemptRequest(exchange, toValue);
    } catch (error) {
      if (!(error instanceof PetstoreError)) throw error;
      const isWaiting = error.status === 429;
      const { retryAfter = isWaiting ? 1 : 0 } = error;
      if (!isRetryable(error, exchange) || (retries === call.maxRetries && !isWaiting)) throw error;
      retries += isWaiting ? 0 : 1;
      const delay = retryAfter * 1_000 + randomBackoff(exchange.attempts - 1);
      if (delay >= call.timeLeft()) throw error;
      await pause(delay, call.signal);
    }
  }
}

/** Waits, or ends early on abort. It does not throw: the next attempt checks the signal. */
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
 * Random milliseconds up to 200, 800, then 2,000, so that clients do not collide again (full jitter):
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 * @param attempt counted from 0
 */
function randomBackoff(attempt: number): number {
  return Math.random() * Math.min(200 * 4 ** attempt, 2_000);
}

function isRetryable(
  { code, status = 0 }: PetstoreError,
  { unknownAttempt, request: { headers = {} } }: Exchange,
): boolean {
  // By the key, the service recognizes a retry.
  const isSafe = unknownAttempt === 0 || headers['Idempotency-Key'] !== undefined;
  const isTransient = status >= 500 || status === 408 || status === 429;
  return isSafe && (isTransient || transientCodes.includes(code));
}

const transientCodes: readonly string[] = ['connection_failed', 'timeout', 'incomplete_list'];
