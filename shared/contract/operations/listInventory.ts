import type { Operation } from '../operation.ts';
import { includeParameter } from '../parameters/includeParameter.ts';
import { pageQuery } from '../parameters/pageQuery.ts';
import { petIdsParameter } from '../parameters/petIdsParameter.ts';
import { petStatusParameter } from '../parameters/petStatusParameter.ts';

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
