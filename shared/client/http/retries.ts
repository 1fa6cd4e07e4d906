import type { Call } from './call.ts';
import { drawBackoff, pause } from './pause.ts';
import { PetstoreError } from './petstoreError.ts';

/** Milliseconds. */
const FIRST_BACKOFF = 200;

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
      if (!mayGoBetter(error, isRepeatable)) throw error;
      const { retryAfter = 0 } = error;
      const delay = retryAfter * 1_000 + drawBackoff(FIRST_BACKOFF, retries);
      if (delay >= call.timeLeft()) throw error;
      await pause(delay, call.signal);
    }
  }
}

/** A 429 is the one failure of which it is known that nothing has happened, and that it passes. */
function mayGoBetter({ code, status = 0 }: PetstoreError, isRepeatable: boolean): boolean {
  if (status === 429) return true;
  return isRepeatable && (status >= 500 || passing.includes(code));
}

const passing: readonly string[] = ['connection_failed', 'timeout', 'incomplete_list'];
