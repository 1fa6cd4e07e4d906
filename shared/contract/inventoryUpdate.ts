import * as z from 'zod/mini';
import { MAX_QUANTITY, quantityError } from './values.ts';

export function quantityFrom(min: number) {
  return z.int({ error: quantityError(min) }).check(z.minimum(min), z.maximum(MAX_QUANTITY));
}

/** The body of an update. Members other than `quantity` are ignored. */
export const InventoryUpdate = z.object(
  { quantity: quantityFrom(0) },
  { error: 'must be a JSON object with a quantity, such as {"quantity": 5}' },
);
export type InventoryUpdate = z.output<typeof InventoryUpdate>;
