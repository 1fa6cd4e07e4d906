import { StoreUnavailable } from '../contract/errors.ts';
import { setDeadline } from '../runtime/requestDeadline.ts';
import type { OperationMiddleware, OperationRequest, RequestState } from './operationRequest.ts';

/** Milliseconds before the function's time runs out at which a request that still waits is answered. */
export const MARGIN = 1_000;

/**
 * Starts the request's one deadline, for all that it waits for up to its answer, or, where that is
 * streamed, up to its first byte. middy's own covers the handler and not the middleware.
 */
export function startTime({ context, internal }: OperationRequest): void {
  // Lambda's; absent where something else calls the function.
  const remaining = context.getRemainingTimeInMillis?.();
  if (remaining === undefined) return;
  const milliseconds = Math.max(0, remaining - MARGIN);
  setDeadline(internal.startedAt + milliseconds);
  internal.timer = setTimeout(() => {
    internal.expire?.(new StoreUnavailable(new Error('The request was not answered in time.')));
  }, milliseconds);
}

export function endTime({ internal }: OperationRequest): void {
  clearTimeout(internal.timer);
}

/**
 * What is waited for, unless the deadline comes first.
 * @throws {StoreUnavailable} at the deadline
 */
export function inTime<Value>(internal: RequestState, waited: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    internal.expire = reject;
    waited.then(resolve, reject);
  });
}

/** A middleware that may wait, as `inTime`. */
export function withDeadline({ before, after }: OperationMiddleware): OperationMiddleware {
  const withinTime = (step: typeof before) =>
    step && ((request: OperationRequest) => waitInTime(request, step(request)));
  const [beforeInTime, afterInTime] = [withinTime(before), withinTime(after)];
  return {
    ...(beforeInTime && { before: beforeInTime }),
    ...(afterInTime && { after: afterInTime }),
  };
}

function waitInTime({ internal }: OperationRequest, waited: void | Promise<void>) {
  return waited && inTime(internal, waited);
}
