import { type ErrorCode, statusOfCode } from '../contract/errorBody.ts';

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

/** Where the documentation is; `npm run client` puts it into the package. */
declare const DOCUMENTATION_ADDRESS: string | undefined;
const documentationAddress =
  typeof DOCUMENTATION_ADDRESS === 'undefined' ? undefined : DOCUMENTATION_ADDRESS;

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
  /** The address of the page that explains the code; undefined where the package was built without one. */
  readonly documentation: string | undefined;

  constructor(code: PetstoreErrorCode, message: string, details: PetstoreErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.documentation = documentationAddress && `${documentationAddress}/errors.html#${code}`;
  }
}

/**
 * The error that an answer is. One without the service's Error body, as a proxy on the way makes it, gets
 * the code that the service has for its status.
 * @param text the body, as much of it as came
 */
export function toPetstoreError({ status, headers }: Response, text: string): PetstoreError {
  const { code, message } = parseErrorBody(text) ?? {
    code: toCode(status),
    message: `Something answered with status ${status}, and not as the service does.`,
  };
  return new PetstoreError(code, message, {
    ...toAnswerDetails(headers, status),
    retryAfter: toSeconds(headers.get('Retry-After')),
  });
}

/** What an error says of the answer that it is about. */
export function toAnswerDetails(headers: Headers, status: number) {
  // A browser gives a redirect, which is never followed, no status.
  return { status: status || undefined, requestId: headers.get('X-Request-Id') ?? undefined };
}

function parseErrorBody(text: string): { code: ErrorCode; message: string } | undefined {
  try {
    const { code, message } = JSON.parse(text);
    return Object.hasOwn(statusOfCode, code) ? { code, message: String(message) } : undefined;
  } catch {
    return undefined;
  }
}

function toCode(status: number): PetstoreErrorCode {
  const codes = Object.keys(statusOfCode) as ErrorCode[];
  const unknown = status >= 500 ? 'service_unavailable' : 'invalid_answer';
  return codes.find((code) => statusOfCode[code] === status) ?? unknown;
}

/** `Retry-After` has seconds or a date (RFC 9110 section 10.2.3). Some proxies send parts of a second. */
function toSeconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^[\d.]+$/.test(value)
    ? Math.ceil(Number(value))
    : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
