/** What a browser may send beside the headers that the Fetch standard always lets through. */
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

/** What a script may read of a response beside the headers that the Fetch standard always shows. */
export const exposedHeaders = [
  'ETag',
  'Link',
  'Deprecation',
  'Sunset',
  'Retry-After',
  'X-Request-Id',
  'WWW-Authenticate',
  'Allow',
] as const;

/** How long a browser may keep a preflight's answer: two hours, the most that Chromium honours. */
export const preflightMaxAgeSeconds = 7200;

/** The most tags that an `If-Match` may name. */
export const MAX_TAGS = 20;

/** The most characters of an `Idempotency-Key`, which are visible ASCII. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** For as long as a request is known by its `Idempotency-Key`. */
export const IDEMPOTENCY_HOURS = 24;

/** The most characters of a client's own `X-Request-Id`. */
export const MAX_CLIENT_REQUEST_ID_LENGTH = 64;
