import type { Operation } from '../operation.ts';
import { pageQuery } from '../pageQuery.ts';

export const listOrders = {
  operationId: 'listOrders',
  method: 'GET',
  path: '/store/orders',
  summary: 'List the orders, newest first',
  lifecycle: { kind: 'stable' },
  permission: 'read',
  query: pageQuery,
  streamed: false,
  errors: ['invalid_request', 'unauthorized'],
} as const satisfies Operation;
