import { InventoryAdjustments } from '../inventoryAdjustment.ts';
import type { Operation } from '../operation.ts';
import { UNUSED_ID } from '../values.ts';

export const adjustInventory = {
  operationId: 'adjustInventory',
  method: 'POST',
  path: '/inventory/adjustments',
  summary: 'Sell or return units of one or more pets',
  lifecycle: { kind: 'beta' },
  permission: 'write',
  requestHeaders: ['Idempotency-Key'],
  requestBody: InventoryAdjustments,
  harmlessBody: `{"adjustments":[{"petId":${UNUSED_ID},"delta":-1}]}`,
  streamed: false,
  errors: [
    'invalid_request',
    'unauthorized',
    'forbidden',
    'not_found',
    'not_for_sale',
    'insufficient_stock',
    'quantity_out_of_range',
    'payload_too_large',
    'unsupported_media_type',
    'idempotency_key_reused',
  ],
} as const satisfies Operation;
