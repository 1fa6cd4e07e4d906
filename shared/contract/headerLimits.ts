/** The most tags that an `If-Match` may name. */
export const MAX_TAGS = 20;

/** The most characters of an `Idempotency-Key`, which are visible ASCII. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255;

/** For as long as a request is known by its `Idempotency-Key`. */
export const IDEMPOTENCY_HOURS = 24;

/** The most characters of a client's own `X-Request-Id`. */
export const MAX_CLIENT_REQUEST_ID_LENGTH = 64;
