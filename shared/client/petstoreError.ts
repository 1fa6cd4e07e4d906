import type { ErrorCode, Refusal } from '../contract/errorBody.ts';

/** The service's own codes, and codes for calls without a valid response from the service. */
export type PetstoreErrorCode =
  | Exclude<ErrorCode, 'unknown_path'>
  /** No response, or a truncated one. */
  | 'connection_failed'
  /** Like `connection_failed`, but because `timeout` or `totalTimeout` elapsed. */
  | 'timeout'
  /** A list ended before its closing bracket: entries are missing. */
  | 'incomplete_list'
  /** The response is not from the service, or is not valid, or `baseUrl` is wrong. */
  | 'invalid_response';

/** The documentation's address; `npm run client` sets it in the package. */
declare const DOCUMENTATION_ADDRESS: string | undefined;
const documentationAddress =
  typeof DOCUMENTATION_ADDRESS === 'undefined' ? undefined : DOCUMENTATION_ADDRESS;

/**
 * What a call did. `none`: the service refused it or never got it. `unknown`: it may or may not have been applied.
 * After a 422, an earlier adjustment with the same `Idempotency-Key` may have been applied. A read always has `none`.
 */
export type Effect = 'none' | 'unknown';

export type PetstoreErrorDetails = Partial<
  Pick<
    PetstoreError,
    'status' | 'requestId' | 'retryAfter' | 'effect' | 'operationId' | 'attempts' | 'refused'
  >
> & { readonly cause?: unknown };

/** The error of a call that failed. For everything else that a call can reject with, see `PetstoreClient`. */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  /** For your program. */
  readonly code: PetstoreErrorCode;
  /** The HTTP status; undefined without a response, and after a `timeout`. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`: include it when you report a problem. */
  readonly requestId: string | undefined;
  /**
   * Of a refused adjustment: one for each pet that could not be sold or returned, in the order of the first request with
   * the key. Missing in outcomes that a service before release 3.0 stored.
   */
  readonly refused: readonly Refusal[] | undefined;
  /** Seconds to wait (`Retry-After`, RFC 9110 section 10.2.3). */
  readonly retryAfter: number | undefined;
  readonly effect: Effect = 'none';
  /** The operation whose request failed; undefined if none did. */
  readonly operationId: string | undefined;
  /** How many times it was attempted. */
  readonly attempts: number = 0;
  /** The URL of the page that explains the code; undefined if the package was built without one. */
  readonly documentation: string | undefined;

  constructor(
    code: PetstoreErrorCode,
    message: string,
    { cause, ...details }: PetstoreErrorDetails = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, details);
    this.code = code;
    this.documentation = documentationAddress && `${documentationAddress}/errors.html#${code}`;
  }
}

const MAX_LENGTH = 500;

/** Any server's text, for a terminal: without controls, invisible and bidirectional characters, and not endless. */
export function toPrintable(text: string): string {
  const start = text.slice(0, MAX_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return text.length > MAX_LENGTH ? `${start}…` : start;
}
