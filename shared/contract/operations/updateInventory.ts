import { InventoryUpdate } from '../inventoryUpdate.ts';
import type { Operation } from '../operation.ts';
import { entryPetId } from '../parameters.ts';

export const updateInventory = {
  operationId: 'updateInventory',
  method: 'PATCH',
  path: '/inventory/{petId}',
  summary: 'Set the stock count of one pet',
  lifecycle: { kind: 'experimental' },
  permission: 'write',
  parameters: { petId: entryPetId },
  requestHeaders: ['If-Match'],
  requestBody: InventoryUpdate,
  harmlessBody: '{"quantity":0}',
  streamed: false,
  errors: [
    'invalid_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'precondition_failed',
    'payload_too_large',
    'unsupported_media_type',
  ],
} as const satisfies Operation;
