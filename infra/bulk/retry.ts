import { setTimeout } from 'node:timers/promises';
import { isOutage } from '../../shared/runtime/isOutage.ts';

const FIRST_PAUSE_MILLISECONDS = 50;
const MAX_PAUSE_MILLISECONDS = 5_000;
/** About half a minute of pauses. */
const MAX_ATTEMPTS = 20;

/** DynamoDB processed only a part of a batch. The rest must be sent again. */
export class Unprocessed extends Error {
  override readonly message = 'DynamoDB left a part of a batch unprocessed.';
}

/**
 * Retries a call after a throttle, an outage of DynamoDB or a conflict with a transaction. The pauses double, and each
 * is a random part of its length (https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/).
 * @param signal ends the pauses, and with them the call
 * @throws the last error of the call, or the signal's reason
 */
export async function retry<Result>(
  call: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isRetryable(error) || attempt === MAX_ATTEMPTS) throw error;
      const longest = Math.min(FIRST_PAUSE_MILLISECONDS * 2 ** attempt, MAX_PAUSE_MILLISECONDS);
      await setTimeout(Math.random() * longest, undefined, { signal });
    }
  }
}

/** The SDK leaves conflicts with transactions to its callers. */
function isRetryable(error: unknown): boolean {
  const isConflict = (error as Error).name === 'TransactionConflictException';
  return isConflict || error instanceof Unprocessed || isOutage(error);
}
