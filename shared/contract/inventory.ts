import * as z from 'zod/mini';
import { int64 } from './int64.ts';

/** The largest stock count, 2^31 - 1. */
export const MAX_QUANTITY = 2_147_483_647;

const quantity = z
  .int({ error: `must be an integer from 0 to ${MAX_QUANTITY}` })
  .check(
    z.minimum(0, { error: `must be an integer from 0 to ${MAX_QUANTITY}` }),
    z.maximum(MAX_QUANTITY, { error: `must be an integer from 0 to ${MAX_QUANTITY}` }),
  );

export const PetStatus = z.enum(['available', 'pending', 'sold'], {
  error: 'must be "available", "pending" or "sold"',
});
export type PetStatus = z.output<typeof PetStatus>;

/** The stock of one pet: what the inventory lists and an update answers. */
export const InventoryItem = z.object({ petId: int64, quantity, status: PetStatus });
export type InventoryItem = z.output<typeof InventoryItem>;

/** The body of an update. Members other than `quantity` are ignored. */
export const InventoryUpdate = z.object(
  { quantity },
  { error: 'must be a JSON object with a quantity, such as {"quantity": 5}' },
);
export type InventoryUpdate = z.output<typeof InventoryUpdate>;
