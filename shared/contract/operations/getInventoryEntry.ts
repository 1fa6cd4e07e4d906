import type { Operation } from '../operation.ts';
import { entryPetId } from '../parameters.ts';

export const getInventoryEntry = {
  operationId: 'getInventoryEntry',
  method: 'GET',
  path: '/inventory/{petId}',
  summary: 'Get the stock of one pet',
  lifecycle: { kind: 'stable' },
  permission: 'read',
  parameters: { petId: entryPetId },
  requestHeaders: ['If-None-Match'],
  streamed: false,
  errors: ['invalid_request', 'unauthorized', 'not_found'],
} as const satisfies Operation;
