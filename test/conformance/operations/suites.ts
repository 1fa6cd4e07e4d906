import type { OperationId } from '../../../shared/contract/operations.ts';
import { getPet } from './getPet.ts';
import { listInventory } from './listInventory.ts';
import { listOrders } from './listOrders.ts';
import type { OperationSuite } from './operationSuite.ts';
import { updateInventory } from './updateInventory.ts';

export const suites: Record<OperationId, OperationSuite> = {
  listInventory,
  updateInventory,
  getPet,
  listOrders,
};
