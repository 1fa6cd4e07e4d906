import * as z from 'zod/mini';
import { InventoryItem } from '../inventory.ts';
import type { Operation } from '../operation.ts';

export const listInventory = {
  operationId: 'listInventory',
  method: 'GET',
  path: '/inventory',
  summary: 'List the stock of every pet',
  lifecycle: { kind: 'stable' },
  permission: 'read',
  response: z.array(InventoryItem),
  streamed: true,
  errors: ['unauthorized'],
} as const satisfies Operation;
