/** Request headers that a browser may send besides those that the Fetch standard always allows. */
export const allowedRequestHeaders = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'X-Request-Id',
  'traceparent',
  'tracestate',
  'baggage',
] as const;

/** Response headers that a script may read besides those that the Fetch standard always exposes. */
export const exposedHeaders = [
  'ETag',
  'Link',
  'Deprecation',
  'Sunset',
  'Retry-After',
  'X-Request-Id',
  'WWW-Authenticate',
  'Allow',
  'Idempotent-Replayed',
] as const;

/** `Cache-Control` of operations: a browser may keep a response, and must ask whether it is still valid. */
export const cacheControl = 'private, no-cache';

/** How long a browser may cache a preflight's response: two hours, the maximum in Chromium. */
export const preflightMaxAgeSeconds = 7200;

/** Maximum tags in an `If-Match`. */
export const MAX_TAGS = 20;

/** Maximum length of an `Idempotency-Key`, in visible ASCII characters. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** How long the service keeps the outcome of an adjustment by its `Idempotency-Key`. */
export const OUTCOME_DAYS = 30;

/** Maximum length of a client's own `X-Request-Id`. */
export const MAX_CLIENT_REQUEST_ID_LENGTH = 64;
