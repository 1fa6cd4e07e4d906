/**
 * The bounds of one call: at most 3 attempts of 1 s to connect and 3 s to answer, so 12 s and the
 * pauses between them. A request makes one call for its key before its handler runs, and a handler
 * that waits longer is answered for by `defineHandler`, so an answer always precedes the function's
 * 28 s and API Gateway's 29 s.
 */
export const callBounds = {
  maxAttempts: 3,
  requestHandler: {
    connectionTimeout: 1_000,
    requestTimeout: 3_000,
    socketTimeout: 3_000,
    throwOnRequestTimeout: true,
  },
};
