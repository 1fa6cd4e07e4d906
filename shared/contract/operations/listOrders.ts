import * as z from 'zod/mini';
import type { Operation } from '../operation.ts';
import { Order } from '../order.ts';

export const listOrders = {
  operationId: 'listOrders',
  method: 'GET',
  path: '/store/orders',
  summary: 'List the orders, newest first',
  lifecycle: { kind: 'stable' },
  permission: 'read',
  response: z.array(Order),
  streamed: false,
  errors: ['unauthorized'],
} as const satisfies Operation;
