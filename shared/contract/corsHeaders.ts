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
