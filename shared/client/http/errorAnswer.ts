import { type ErrorCode, statusOfCode } from '../../contract/errors/errorBody.ts';
import { PetstoreError, type PetstoreErrorCode } from './petstoreError.ts';

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

/** `Retry-After` has seconds or a date (RFC 9110 section 10.2.3). */
function toSeconds(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(seconds, 0);
}
