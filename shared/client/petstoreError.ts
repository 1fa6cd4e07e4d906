import {
  type ErrorBody,
  type ErrorCode,
  statusOfCode,
  UNKNOWN_PATH,
} from '../contract/errorBody.ts';

/** The service's own codes, and codes for calls without a valid response from the service. */
export type PetstoreErrorCode =
  | ErrorCode
  /** No response, or a truncated one. */
  | 'connection_failed'
  /** As `connection_failed`, because `timeout` or `totalTimeout` passed. */
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
 * What a call did. `none`: the service refused its update or never got it. `unknown`: it may or may not have been
 * applied, or another adjustment with its `Idempotency-Key` may have been. `applied`: another update with its key was
 * applied before. A read has no effect.
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
  readonly effect: Effect = 'none';
  /** The operation whose request failed; undefined if none did. */
  readonly operationId: string | undefined;
  /** How often its request was sent. */
  readonly attempts: number = 0;
  /** The address of the page that explains the code; undefined if the package was built without one. */
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

/**
 * Reads an error response. Firewalls, proxies and load balancers send any status too, also after an update took
 * effect. So only the service's own Error body says what happened.
 * @param text the body
 */
export function parseErrorResponse({ status, headers }: Response, text: string) {
  const own = parseErrorBody(status, text);
  const foreignCode = status >= 500 ? 'service_unavailable' : 'invalid_response';
  // Under a wrong base address, every path is unknown: that says nothing about the entry.
  const isElsewhere = own?.message.startsWith(UNKNOWN_PATH);
  const code: PetstoreErrorCode = own && !isElsewhere ? own.code : foreignCode;
  return {
    code,
    message: own
      ? toPrintable(own.message)
      : `The response has status ${status}, but no error body of the service.`,
    /** Whether the service says that the request had no effect. */
    isRefusal: own !== undefined && status < 500,
    retryAfter: readRetryAfter(headers),
  };
}

/** @returns undefined unless the response is the service's own */
function parseErrorBody(status: number, text: string): ErrorBody | undefined {
  try {
    const body: ErrorBody = JSON.parse(text);
    const isOwn =
      typeof body.code === 'string' &&
      typeof body.message === 'string' &&
      statusOfCode[body.code] === status &&
      body.status === status;
    return isOwn ? body : undefined;
  } catch {
    return undefined;
  }
}

const MAX_LENGTH = 500;

/** Any server's text, for a terminal: without controls, invisible and bidirectional characters, and not endless. */
export function toPrintable(text: string): string {
  const start = text.slice(0, MAX_LENGTH).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd');
  return text.length > MAX_LENGTH ? `${start}…` : start;
}

/** `Retry-After` is seconds or a date (RFC 9110 section 10.2.3). Some proxies send fractions of a second. */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('Retry-After');
  if (value === null) return undefined;
  // The local clock may be wrong. Another origin's page sees no Date.
  const sent = Date.parse(headers.get('Date') ?? '');
  const seconds = /^[\d.]+$/.test(value)
    ? Math.ceil(Number(value))
    : (Date.parse(value) - (Number.isNaN(sent) ? Date.now() : sent)) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
