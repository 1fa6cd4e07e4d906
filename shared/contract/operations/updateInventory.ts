import * as z from 'zod/mini';
import { petIdParameter } from '../int64.ts';
import { InventoryItem, InventoryUpdate } from '../inventory.ts';
import type { Operation } from '../operation.ts';

export const updateInventory = {
  operationId: 'updateInventory',
  method: 'PATCH',
  path: '/inventory/{petId}',
  summary: 'Set the stock count of one pet',
  lifecycle: { kind: 'experimental' },
  permission: 'write',
  parameters: z.object({ petId: petIdParameter }),
  requestBody: InventoryUpdate,
  response: InventoryItem,
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
