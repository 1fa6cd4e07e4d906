import {
  IDEMPOTENCY_HOURS,
  MAX_CLIENT_REQUEST_ID_LENGTH,
  MAX_IDEMPOTENCY_KEY_LENGTH,
  MAX_TAGS,
} from '../../../shared/contract/headers.ts';
import { MAX_QUANTITY } from '../../../shared/contract/inventoryUpdate.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { DEFAULT_LIMIT } from '../../../shared/contract/pageQuery.ts';
import type { Parameter } from '../../../shared/contract/parameters.ts';
import { petStatuses } from '../../../shared/contract/values.ts';
import { MAX_HEADER_BYTES, MAX_PAYLOAD_BYTES } from '../../gateway/gatewayLimits.ts';
import { toTable } from '../markdown/table.ts';
import type { Placeholders } from '../placeholders.ts';

/** The bounds that the service holds its clients to. */
export const valueFacts: Placeholders = {
  bodyMegabytes: () => toMegabytes(MAX_PAYLOAD_BYTES),
  headerBytes: () => toCount(MAX_HEADER_BYTES),
  defaultLimit: () => toCount(DEFAULT_LIMIT),
  maxTags: () => toCount(MAX_TAGS),
  idempotencyKeyLength: () => toCount(MAX_IDEMPOTENCY_KEY_LENGTH),
  idempotencyHours: () => toCount(IDEMPOTENCY_HOURS),
  clientRequestIdLength: () => toCount(MAX_CLIENT_REQUEST_ID_LENGTH),
  maxQuantity: () => toCount(MAX_QUANTITY),
  statuses: () => petStatuses.map((status) => `\`${status}\``).join(', '),
  rules: toRuleTable,
};

/** What the parameters of paths and queries must be, in the words of the errors. */
function toRuleTable(): string {
  const all = Object.values<Operation>(operations).flatMap(({ parameters, query }) =>
    Object.entries<Parameter<unknown>>({ ...query, ...parameters }),
  );
  const rows = all.flatMap(([name, { error }]) => (error ? [`| \`${name}\` | ${error} |`] : []));
  return `${toTable(['parameter', 'value'], [])}\n${[...new Set(rows)].join('\n')}`;
}

function toMegabytes(bytes: number): string {
  return toCount(bytes / 1024 / 1024);
}

function toCount(number: number): string {
  return number.toLocaleString('en');
}
