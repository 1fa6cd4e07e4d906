import {
  type CancellationReason,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { StoreUnavailable } from '../contract/errors.ts';

/** The reason of a transaction's item with a failed condition. */
export const CONDITION_FAILED = 'ConditionalCheckFailed';
/** Temporary reasons for which DynamoDB cancels a transaction. */
const transient = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];
/** With fewer, many writers of one entry would fail although it is free again. */
export const MAX_ATTEMPTS = 10;
/** Milliseconds, before the last attempts. */
const MAX_PAUSE = 800;

/** A write changed nothing, because an item was not as expected. The next attempt expects it as it is. */
export class StateChanged extends Error {
  override readonly name = 'StateChanged';
}

/**
 * Retries a write that changed nothing: at once after a `StateChanged`, after a pause if other writes were in the way.
 * The pauses take 5.5 seconds in total at most, and half of that on average.
 * @throws {StoreUnavailable} if the last attempt fails so too
 */
export async function repeatConflicts<Output>(send: () => Promise<Output>): Promise<Output> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      const isOtherState = error instanceof StateChanged;
      if (!isOtherState && !isConflict(error)) throw error;
      if (attempt === MAX_ATTEMPTS) throw new StoreUnavailable(error, true);
      if (isOtherState) continue;
      const pause = Math.random() * Math.min(50 * 2 ** attempt, MAX_PAUSE);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

function isConflict(error: unknown): boolean {
  const isCanceled = readReasons(error).some(({ Code }) => transient.includes(String(Code)));
  return isCanceled || error instanceof TransactionConflictException;
}

/** The reason of each item of a cancelled transaction; empty for any other error. */
export function readReasons(error: unknown): CancellationReason[] {
  return (error instanceof TransactionCanceledException && error.CancellationReasons) || [];
}
