import {
  type ErrorBody,
  type ErrorCode,
  retryAfter,
  statusOfCode,
  toErrorBody,
} from '../../../shared/contract/errorBody.ts';
import {
  Forbidden,
  InvalidRequest,
  NotFound,
  PreconditionFailed,
  StoreUnavailable,
  Unauthorized,
  UnsupportedMediaType,
} from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { pageQuery } from '../../../shared/contract/pageQuery.ts';
import { entryPetId, petId } from '../../../shared/contract/parameters.ts';
import { toErrorResponse } from '../../../shared/http/toErrorResponse.ts';
import {
  type GatewayError,
  gatewayErrors,
  toMethodNotAllowedError,
} from '../../gateway/gatewayErrors.ts';
import { type Placeholders, toTable } from '../guide.ts';

/** What goes wrong, in the service's own words. */
export const errorFacts: Placeholders = {
  error: (code) => toFacts(code as ErrorCode),
  errorExample: () => JSON.stringify(bodies.find(({ code }) => code === 'not_found')),
  retryAfter: () =>
    toTable(
      ['status', 'seconds', 'when'],
      [
        [429, retryAfter.throttled, 'there are too many requests at once'],
        [429, retryAfter.quotaExceeded, 'a quota is used up'],
        [503, retryAfter.unavailable, 'the database, or the service itself, is busy'],
      ],
    ),
};

/** Whatever a function throws. The words are fixed, but for the parameter or id that they name. */
const thrown: readonly Error[] = [
  new InvalidRequest(`limit ${pageQuery.limit.error}.`),
  new Unauthorized(false, ''),
  new Unauthorized(true, ''),
  new Forbidden(),
  new NotFound(entryPetId, 7n),
  new NotFound(petId, 7n),
  new PreconditionFailed(entryPetId, 7n, ''),
  new UnsupportedMediaType(),
  new StoreUnavailable(undefined),
];
const { REQUEST_TOO_LARGE: _, ...gatewayWords } = gatewayErrors;
/** But for a body that is too large, which the gateway refuses in words of its own. */
const made: readonly GatewayError[] = [
  ...Object.values(gatewayWords),
  toMethodNotAllowedError('GET, OPTIONS'),
];

/** One of each message that a client can get. */
const bodies: readonly ErrorBody[] = [
  ...thrown.map((error) => JSON.parse(String(toErrorResponse(error).body)) as ErrorBody),
  ...made.map(({ code, message }) => toErrorBody(code, message)),
];

function toFacts(code: ErrorCode): string | undefined {
  if (!Object.hasOwn(statusOfCode, code)) return undefined;
  const own = bodies.filter((body) => body.code === code).map(({ message }) => `- “${message}”`);
  const words = [...new Set(own)].join('\n');
  const status = `Status **${statusOfCode[code]}**, ${toOrigin(code)}.`;
  return words === '' ? status : `${status} In these words:\n\n${words}`;
}

/** Who answers it. */
function toOrigin(code: ErrorCode): string {
  const from = Object.values<Operation>(operations).filter(({ errors }) => errors.includes(code));
  if (from.length === 0) return 'at any path';
  if (from.length === Object.keys(operations).length) return 'from every operation';
  return `from ${from.map(({ operationId }) => `\`${operationId}\``).join(', ')}`;
}
