import type { ErrorCode } from '../../contract/errors/errorBody.ts';

/** The service's own codes, and what a client can meet before it has an answer of the service. */
export type PetstoreErrorCode =
  | ErrorCode
  /** No answer, or only a part of one. What a request that changes something did is not known. */
  | 'connection_failed'
  /** As `connection_failed`, since nothing came for as long as `timeout` says. */
  | 'timeout'
  /** A list broke off before its closing bracket: what came of it is not all there is. */
  | 'incomplete_list'
  /** Something answered that is not the service, or not as the service would. */
  | 'invalid_answer';

export interface PetstoreErrorDetails {
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** What every call rejects with, save for an abort: that rejects with the reason of the caller's signal. */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  /** What went wrong, for a program. */
  readonly code: PetstoreErrorCode;
  /** The HTTP status; undefined where the client found out by itself, without an answer. */
  readonly status: number | undefined;
  /** The answer's `X-Request-Id`: name it when you report a problem. */
  readonly requestId: string | undefined;
  /** Seconds that the answer asked to wait (`Retry-After`, RFC 9110 section 10.2.3). */
  readonly retryAfter: number | undefined;

  constructor(code: PetstoreErrorCode, message: string, details: PetstoreErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
  }
}
