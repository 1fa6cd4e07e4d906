import * as z from 'zod/mini';
import { quantityFrom } from './quantity.ts';

/** The body of an update. Members other than `quantity` are ignored. */
export const InventoryUpdate = z.object(
  { quantity: quantityFrom(0) },
  { error: 'must be a JSON object with a quantity, such as {"quantity": 5}' },
);
export type InventoryUpdate = z.output<typeof InventoryUpdate>;
