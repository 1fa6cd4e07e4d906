import { type ErrorCode, statusOfCode } from '../contract/errorBody.ts';

/** The service's own codes, and codes for calls without a valid response from the service. */
export type PetstoreErrorCode =
  | ErrorCode
  /** No response, or a truncated one. */
  | 'connection_failed'
  /** As `connection_failed`, because `timeout` or `totalTimeout` passed. */
  | 'timeout'
  /** A list ended before its closing bracket: entries are missing. */
  | 'incomplete_list'
  /** The response is not from the service, or is not valid. */
  | 'invalid_answer';

/** The documentation's address; `npm run client` sets it in the package. */
declare const DOCUMENTATION_ADDRESS: string | undefined;
const documentationAddress =
  typeof DOCUMENTATION_ADDRESS === 'undefined' ? undefined : DOCUMENTATION_ADDRESS;

/**
 * What a call did. `none`: the service refused its update or never got it. `unknown`: the update may or may not have
 * been applied. `applied`: one with its `Idempotency-Key` was applied before. A read has no effect.
 */
export type Effect = 'none' | 'unknown' | 'applied';

export type PetstoreErrorDetails = Partial<
  Pick<
    PetstoreError,
    'status' | 'requestId' | 'retryAfter' | 'effect' | 'operationId' | 'attempts' | 'cause'
  >
>;

/** The error of every failed call. An aborted call rejects with the reason of your signal instead. */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  /** For your program. */
  readonly code: PetstoreErrorCode;
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`: include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Seconds to wait (`Retry-After`, RFC 9110 section 10.2.3). */
  readonly retryAfter: number | undefined;
  readonly effect: Effect;
  /** The operation whose request failed; undefined if none did. */
  readonly operationId: string | undefined;
  /** How often its request was sent. */
  readonly attempts: number;
  /** The address of the page that explains the code; undefined if the package was built without one. */
  readonly documentation: string | undefined;

  constructor(code: PetstoreErrorCode, message: string, details: PetstoreErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.retryAfter = details.retryAfter;
    this.effect = details.effect ?? 'none';
    this.operationId = details.operationId;
    this.attempts = details.attempts ?? 0;
    this.documentation = documentationAddress && `${documentationAddress}/errors.html#${code}`;
  }
}

/**
 * Reads an error response. Without the service's Error body, for example from a proxy, the code follows from the
 * status. But 412 and 422 say what became of an update, which only the service knows.
 * @param text the body, which may be truncated
 */
export function parseErrorResponse({ status, headers }: Response, text: string) {
  const { code, message } = parseErrorBody(text) ?? {
    code: toCode(status),
    message: `The response has status ${status}, but no error body of the service.`,
  };
  return { code, message, retryAfter: toSeconds(headers.get('Retry-After')) };
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
  if (status === 412 || status === 422) return 'invalid_answer';
  const codes = Object.keys(statusOfCode) as ErrorCode[];
  const unknown = status >= 500 ? 'service_unavailable' : 'invalid_answer';
  return codes.find((code) => statusOfCode[code] === status) ?? unknown;
}

/** `Retry-After` is seconds or a date (RFC 9110 section 10.2.3). Some proxies send fractions of a second. */
function toSeconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^[\d.]+$/.test(value)
    ? Math.ceil(Number(value))
    : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
