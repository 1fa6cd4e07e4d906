import { StoreUnavailable } from '../contract/errors.ts';
import { setDeadline } from '../runtime/replyTime.ts';
import type { OperationRequest, RequestState } from './operationRequest.ts';

/** A request that still waits this many milliseconds before the function's timeout gets an error. */
export const MARGIN = 1_000;

/**
 * Starts the request's deadline. It covers everything up to the response, or up to the first byte of a streamed
 * response. The deadline in middy covers the handler but not the middleware.
 */
export function startTime({ context, internal }: OperationRequest): void {
  // Set by Lambda; absent if something else calls the function.
  const remaining = context.getRemainingTimeInMillis?.();
  if (remaining === undefined) return;
  const milliseconds = Math.max(0, remaining - MARGIN);
  setDeadline(internal.startedAt + milliseconds);
  internal.deadline = new Promise((_, reject) => {
    internal.timer = setTimeout(() => {
      reject(new StoreUnavailable(new Error('The request timed out.')));
    }, milliseconds);
  });
  // A request that waits for nothing at that time is not late.
  internal.deadline.catch(() => {});
}

/**
 * Waits for the promise, until the deadline.
 * @throws {StoreUnavailable} at the deadline
 */
export function inTime<Value>({ deadline }: RequestState, waited: Promise<Value>): Promise<Value> {
  return deadline ? Promise.race([waited, deadline]) : waited;
}
