import * as z from 'zod/mini';
import { getPet } from './operations/getPet.ts';
import { listInventory } from './operations/listInventory.ts';
import { listOrders } from './operations/listOrders.ts';
import { updateInventory } from './operations/updateInventory.ts';
import { InventoryItem, ListedInventoryItem } from './schemas/inventory.ts';
import { Order } from './schemas/order.ts';
import { Pet } from './schemas/pet.ts';

const rows = { listInventory, updateInventory, getPet, listOrders } as const;

export type OperationId = keyof typeof rows;

/**
 * Every operation of the service, each under its own operationId. Routes, functions, grants and the
 * local gateway are made by going through it; a function itself imports only its own operation, which
 * keeps its bundle small.
 */
export const operations: {
  readonly [Id in OperationId]: (typeof rows)[Id] & { readonly operationId: Id };
} = rows;

/**
 * The body of each operation's 200. They stand apart from the operations, which the functions import:
 * what a function answers comes from its store, and a schema that it never checks costs its cold start.
 */
export const responses = {
  listInventory: z.array(ListedInventoryItem),
  updateInventory: InventoryItem,
  getPet: Pet,
  listOrders: z.array(Order),
} as const satisfies Record<OperationId, z.core.$ZodType>;

export const operationIds = Object.keys(operations) as readonly OperationId[];

/** One value for each operation. */
export function mapOperations<Value>(
  toValue: (operationId: OperationId) => Value,
): Record<OperationId, Value> {
  return Object.fromEntries(operationIds.map((id) => [id, toValue(id)])) as Record<
    OperationId,
    Value
  >;
}
