import { type ErrorCode, retryAfter, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { NotFound } from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { entryPetId } from '../../../shared/contract/parameters.ts';
import { toErrorResponse } from '../../../shared/http/toErrorResponse.ts';
import { type Placeholders, toTable } from '../guide.ts';
import { checkCatalogue, errorCatalogue } from './errorCatalogue.ts';

/** The errors, in the service's own words. */
export const errorFacts: Placeholders = {
  error: toFacts,
  errorExample: () => String(toErrorResponse(new NotFound(entryPetId, 7n)).body),
  retryAfter: () =>
    toTable(
      ['status', 'seconds', 'when'],
      [
        [429, retryAfter.throttled, 'there are too many requests at once'],
        [503, retryAfter.unavailable, 'the database, or the service itself, is busy'],
      ],
    ),
};

/** @throws {Error} when a message has no cause and no cure */
function toFacts(code: string): string | undefined {
  checkCatalogue();
  const explained = errorCatalogue.filter((one) => one.code === code);
  if (explained.length === 0) return undefined;
  const items = explained.map(({ messages, cause, cure }) => {
    const words = messages.map((message) => `“${message}”`).join('<br>');
    return `- ${words}<br>\n  *Cause:* ${cause}<br>\n  *Cure:* ${cure}`;
  });
  return [...toStatus(code), ...items].join('\n\n');
}

/** The client's own codes have no status. */
function toStatus(code: string): string[] {
  if (!Object.hasOwn(statusOfCode, code)) return [];
  const known = code as ErrorCode;
  return [`Status **${statusOfCode[known]}**, ${toOrigin(known)}.`];
}

/** The operations that respond with the error. */
function toOrigin(code: ErrorCode): string {
  const from = Object.values<Operation>(operations).filter(({ errors }) => errors.includes(code));
  if (from.length === 0) return 'at any path';
  if (from.length === Object.keys(operations).length) return 'from every operation';
  return `from ${from.map(({ operationId }) => `\`${operationId}\``).join(', ')}`;
}
