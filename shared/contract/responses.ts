import * as z from 'zod/mini';
import { type ErrorCode, statusOfCode } from './errors/errorBody.ts';
import type { OperationId } from './operations.ts';
import { InventoryItem } from './schemas/inventory.ts';
import { Order } from './schemas/order.ts';
import { Pet } from './schemas/pet.ts';

/**
 * The body of each operation's 200. They stand apart from the operations, which the functions import:
 * what a function answers comes from its store, and a schema that it never checks costs its cold start.
 */
export const responses = {
  listInventory: z.array(InventoryItem),
  updateInventory: InventoryItem,
  getPet: Pet,
  listOrders: z.array(Order),
} as const satisfies Record<OperationId, z.core.$ZodType>;

/** The body of every error. */
export const ErrorBody = z.object({
  code: z.enum(Object.keys(statusOfCode) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  status: z.int(),
});
