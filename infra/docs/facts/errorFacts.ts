import {
  type ErrorBody,
  type ErrorCode,
  retryAfter,
  statusOfCode,
} from '../../../shared/contract/errorBody.ts';
import {
  Forbidden,
  IdempotencyKeyReused,
  NotFound,
  PreconditionFailed,
  StoreUnavailable,
  Unauthorized,
  UnsupportedMediaType,
} from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { entryPetId, petId } from '../../../shared/contract/parameters.ts';
import { toErrorResponse } from '../../../shared/http/toErrorResponse.ts';
import {
  gatewayErrors,
  injectedConflict,
  injectedReuse,
  toAllow,
  toMethodNotAllowedError,
  tooLargeResponses,
} from '../../gateway/gatewayErrors.ts';
import { type Placeholders, toTable } from '../guide.ts';
import { refusals } from './refusals.ts';

/** Codes that only the client has. */
type ClientCode = 'connection_failed' | 'timeout' | 'incomplete_list' | 'invalid_answer';

interface ErrorMessage {
  readonly code: ErrorCode | ClientCode;
  readonly message: string;
}

const rows: readonly Operation[] = Object.values(operations);

/** Errors of functions and of the gateway. */
const serviceErrors: Readonly<Record<string, readonly (Error | ErrorMessage)[]>> = {
  ...refusals,
  noKey: [new Unauthorized(false, '')],
  invalidKey: [new Unauthorized(true, '')],
  readKey: [new Forbidden()],
  noEntry: [new NotFound(entryPetId, 7n), new NotFound(petId, 7n)],
  changed: [new PreconditionFailed(entryPetId, 7n, '')],
  mediaType: [new UnsupportedMediaType()],
  reusedKey: [new IdempotencyKeyReused(entryPetId, 7n)],
  busy: [new StoreUnavailable(undefined)],
  malformed: [gatewayErrors.DEFAULT_4XX],
  firewall: [gatewayErrors.WAF_FILTERED],
  unknownPath: [gatewayErrors.RESOURCE_NOT_FOUND],
  unknownMethod: [...Map.groupBy(rows, ({ path }) => path).values()].map((same) =>
    toMethodNotAllowedError(toAllow(same.map(({ method }) => method))),
  ),
  injected: [injectedConflict],
  injectedReuse: [injectedReuse],
  tooLarge: Object.values(tooLargeResponses).map(({ message }) => ({
    code: 'payload_too_large',
    message,
  })),
  throttled: [gatewayErrors.THROTTLED],
  failed: [gatewayErrors.DEFAULT_5XX],
  slow: [gatewayErrors.INTEGRATION_TIMEOUT],
};

/** The client's own errors. This room must not import the client; a test compares them. */
const clientErrors: Readonly<Record<string, readonly [ErrorMessage['code'], ...string[]]>> = {
  clientArgument: [
    'invalid_request',
    'quantity must be an integer from 0 to 2147483647, not -1.',
    'petId must be a bigint, such as 7n or BigInt("7").',
  ],
  unreachable: ['connection_failed', 'The service could not be reached.'],
  lost: ['connection_failed', 'No response came.'],
  truncated: ['connection_failed', 'The response was truncated.'],
  timeout: ['timeout', 'Timed out after 30000 ms.'],
  truncatedList: ['incomplete_list', 'The response was truncated.'],
  otherResponse: ['invalid_answer', 'The response is not a valid getPet response.'],
  repeatedPage: ['invalid_answer', 'The next page was already read: the list would never end.'],
  proxyFailed: [
    'service_unavailable',
    'The response has status 502, but no error body of the service.',
  ],
  proxyResponse: [
    'invalid_answer',
    'The response has status 302, but no error body of the service.',
  ],
};

/**
 * Every error message that a client can get, by the name under which `guides/errors.md` has its cause and cure. Ids,
 * names and times in messages are examples.
 */
export const errorMessages: Readonly<Record<string, readonly ErrorMessage[]>> = {
  ...mapValues(serviceErrors, (errors) =>
    errors.map((error) => (error instanceof Error ? toBody(error) : error)),
  ),
  ...mapValues(clientErrors, ([code, ...messages]) =>
    messages.map((message) => ({ code, message })),
  ),
};

/** The errors, in the service's own words. */
export const errorFacts: Placeholders = {
  error: toStatus,
  messages(name) {
    const texts = errorMessages[name]?.map(({ message }) => `“${message}”`);
    return texts && [...new Set(texts)].join('<br>');
  },
  errorExample: () => String(toErrorResponse(new NotFound(entryPetId, 7n)).body),
  retryAfter: () =>
    toTable(
      ['status', 'seconds', 'when'],
      [
        [429, retryAfter.throttled, 'there are too many requests at once'],
        [503, retryAfter.conflict, 'too many requests update one entry at once'],
        [503, retryAfter.unavailable, 'the database, or the service itself, is busy'],
      ],
    ),
};

/** The status of a code of the service, and the operations that respond with it. */
function toStatus(code: string): string | undefined {
  if (!Object.hasOwn(statusOfCode, code)) return undefined;
  const known = code as ErrorCode;
  const from = rows.filter(({ errors }) => errors.includes(known));
  const names = from.map(({ operationId }) => `\`${operationId}\``).join(', ');
  const all = from.length === rows.length ? 'every operation' : names;
  return `Status **${statusOfCode[known]}**, ${all === '' ? 'at any path' : `from ${all}`}.`;
}

function toBody(error: Error): ErrorBody {
  return JSON.parse(String(toErrorResponse(error).body));
}

function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  toValue: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, one]) => [name, toValue(one)]));
}
