/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html */
const throttles = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ThrottlingException',
]);

const connectionFailures = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

interface SdkFailure {
  name?: string;
  code?: string;
  $metadata?: { httpStatusCode?: number };
}

/** Whether DynamoDB throttled, failed or was not reached; anything else is a mistake on our side. */
export function isOutage(error: unknown): boolean {
  const { name = '', code = '', $metadata } = error as SdkFailure;
  return (
    throttles.has(name) ||
    name === 'TimeoutError' ||
    connectionFailures.has(code) ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  );
}
