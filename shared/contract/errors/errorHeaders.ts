/** What every 401 and 403 asks for (`WWW-Authenticate`, RFC 6750 section 3). */
export const challenge = 'Bearer realm="petstore"';

/** Seconds to wait (`Retry-After`, RFC 9110 section 10.2.3). */
export const retryAfter = {
  /** The rate of the moment is too high. */
  throttled: '1',
  /** Past the SDK's own retries, and short enough for a person to wait. */
  unavailable: '5',
  quotaExceeded: '60',
} as const;
