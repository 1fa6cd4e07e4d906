import {
  type ErrorBody,
  type ErrorCode,
  type Refusal,
  statusOfCode,
  UNKNOWN_PATH,
} from '../contract/errorBody.ts';
import { parseJson } from '../contract/json.ts';

/** The service's own codes, and codes for calls without a valid response from the service. */
export type PetstoreErrorCode =
  | Exclude<ErrorCode, 'unknown_path'>
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
 * What a call did. `none`: the service refused it or never got it. `unknown`: it may or may not have been applied, or
 * another adjustment with its `Idempotency-Key` may have been. A read has no effect.
 */
export type Effect = 'none' | 'unknown';

export type PetstoreErrorDetails = Partial<
  Pick<
    PetstoreError,
    'status' | 'requestId' | 'retryAfter' | 'effect' | 'operationId' | 'attempts' | 'refused'
  >
> & { readonly cause?: unknown };

/** The error of every failed call. An aborted call rejects with the reason of your signal instead. */
export class PetstoreError extends Error {
  override readonly name = 'PetstoreError';
  /** For your program. */
  readonly code: PetstoreErrorCode;
  /** The HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** The response's `X-Request-Id`: include it when you report a problem. */
  readonly requestId: string | undefined;
  /**
   * Of a refused adjustment: one for each pet that refused it, in the order of the first request with the key. Missing
   * in outcomes that a service before release 3.0 stored.
   */
  readonly refused: readonly Refusal[] | undefined;
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
    super(message);
    // As the option of the same name, which older libraries do not know.
    if (cause !== undefined) Object.defineProperty(this, 'cause', { value: cause });
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
  // Under a wrong base address, every path is unknown. Stages of release 2.0 say `not_found` there: remove the message
  // in 3.1.
  const isElsewhere = own?.code === 'unknown_path' || own?.message.startsWith(UNKNOWN_PATH);
  const code = own && !isElsewhere ? (own.code as PetstoreErrorCode) : foreignCode;
  return {
    code,
    message: own
      ? toPrintable(own.message)
      : `The response has status ${status}, but no error body of the service.`,
    /** Whether the service says that the request had no effect. */
    isRefusal: own !== undefined && status < 500,
    refused: own?.refused,
    retryAfter: readRetryAfter(headers),
  };
}

/** @returns undefined unless the response is the service's own */
function parseErrorBody(status: number, text: string): ErrorBody | undefined {
  try {
    const body = parseJson(text) as ErrorBody;
    const isOwn =
      typeof body.code === 'string' &&
      typeof body.message === 'string' &&
      statusOfCode[body.code] === status &&
      body.status === status;
    // `BigInt` throws if there is no id.
    const refused = body.refused?.map((one) => ({ ...one, petId: BigInt(one.petId) }));
    return isOwn ? { ...body, ...(refused && { refused }) } : undefined;
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
