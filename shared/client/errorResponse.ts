import { type ErrorBody, statusOfCode, UNKNOWN_PATH } from '../contract/errorBody.ts';
import { parseJson } from '../contract/json.ts';
import { type PetstoreErrorCode, toPrintable } from './petstoreError.ts';
import { toList, toRefusal } from './resources.ts';

/**
 * Reads an error response. Firewalls, proxies and load balancers send any status too, also after an update took
 * effect. So only the service's own Error body says what happened.
 * @param text the body
 */
export function parseErrorResponse({ status, headers }: Response, text: string) {
  const own = parseErrorBody(status, text);
  const foreignCode = status >= 500 ? 'service_unavailable' : 'invalid_response';
  // Under a wrong base URL, every path is unknown. Stages of release 2.0 say `not_found` there: remove the message
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
    if (!isOwn) return undefined;
    const { refused } = body;
    return refused === undefined ? body : { ...body, refused: toList(refused, toRefusal) };
  } catch {
    return undefined;
  }
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
