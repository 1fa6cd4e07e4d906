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
  requestHeaders: ['If-Match', 'Idempotency-Key'],
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
    'idempotency_key_reused',
  ],
} as const satisfies Operation;
