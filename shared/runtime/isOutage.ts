import { isServerError, isThrottlingError, isTransientError } from '@smithy/core/retry';

/**
 * Whether DynamoDB throttled, failed or was not reached, by the SDK's own judgement of what is worth
 * repeating; anything else is a mistake on our side.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html
 */
export function isOutage(error: unknown): boolean {
  const failure = error as Parameters<typeof isTransientError>[0];
  return isThrottlingError(failure) || isTransientError(failure) || isServerError(failure);
}
