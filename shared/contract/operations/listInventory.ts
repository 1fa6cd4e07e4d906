import type { Operation } from '../operation.ts';
import { pageQuery } from '../pageQuery.ts';
import type { Parameter } from '../parameters.ts';
import { PET_STATUS_ERROR, type PetStatus, parseInt64, petStatuses } from '../values.ts';

export const MAX_IDS = 100;

/** The ids of the requested entries; a repeated id counts once. */
const petIdsParameter: Parameter<readonly bigint[]> = {
  parse(text) {
    const petIds = new Set(text.split(',').map(parseInt64));
    if (petIds.size > MAX_IDS || petIds.has(undefined)) return undefined;
    return [...petIds] as bigint[];
  },
  error: `must be 1 to ${MAX_IDS} different integers from -9223372036854775808 to 9223372036854775807, separated by commas or in repeated petId parameters`,
  description:
    'Returns only the entries with these ids, in this order, without those that do not exist. A repeated id counts once.',
  schema: {
    type: 'array',
    items: { type: 'integer', format: 'int64' },
    minItems: 1,
    maxItems: MAX_IDS,
  },
};

const petStatusParameter: Parameter<PetStatus> = {
  parse: (text) => petStatuses.find((status) => status === text),
  error: PET_STATUS_ERROR,
  description: 'Returns only the entries with this status.',
  schema: { type: 'string', enum: petStatuses },
};

const includeParameter: Parameter<'etag'> = {
  parse: (text) => (text === 'etag' ? text : undefined),
  error: 'must be "etag"',
  description: 'Gives each entry its tag as a fourth member, as `If-Match` takes it.',
  schema: { type: 'string', enum: ['etag'] },
};

export const listInventory = {
  operationId: 'listInventory',
  method: 'GET',
  path: '/inventory',
  summary: 'List the stock of every pet',
  lifecycle: { kind: 'stable' },
  permission: 'read',
  query: {
    ...pageQuery,
    status: petStatusParameter,
    petId: petIdsParameter,
    include: includeParameter,
  },
  exclusive: [
    ['petId', 'limit'],
    ['petId', 'cursor'],
  ],
  requestHeaders: ['If-None-Match'],
  streamed: true,
  errors: ['invalid_request', 'unauthorized'],
} as const satisfies Operation;
