/**
 * The bounds of one call: at most 3 attempts, each with 1 s to connect and, from being sent to the last
 * byte of its reply, `REPLY_MILLISECONDS`; so 9 s and the pauses between them. What a request may wait
 * for in all is bounded by `requestDeadline.ts`.
 */
export const callBounds = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    // Ends at the reply's head; `boundReplies` sees to the body.
    requestTimeout: 3_000,
    throwOnRequestTimeout: true,
    // It would see only silence, which the bound of the whole reply sees too.
    socketTimeout: 0,
  },
};

/** Milliseconds from when an attempt is sent to the last byte of a small reply. */
export const REPLY_MILLISECONDS = callBounds.requestHandler.requestTimeout;

/**
 * The slowest that a large reply may come, in bytes a millisecond: each MB of it has a second more. A full
 * page of a list, 1 MB of records or some 4 MB of DynamoDB's JSON, has 7 s.
 */
export const FLOOR_RATE = 1_000;

/** What a reply may be that has more time for its length: twice the largest page. */
export const MOST_REPLY_BYTES = 8_000_000;
