import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';

/**
 * Whether DynamoDB throttled, failed or was not reached. These are the errors that the SDK itself retries. Any other
 * error is our own mistake.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export function isOutage(error: unknown): boolean {
  const failure = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(failure) || isTransientError(failure) || isServerError(failure);
}
