import * as z from 'zod/mini';
import { PET_STATUS_ERROR, petStatuses } from '../values/petStatus.ts';
import { int64 } from './int64.ts';
import { quantityFrom } from './quantity.ts';

export const PetStatus = z.enum(petStatuses, { error: PET_STATUS_ERROR });

/** The stock of one pet: what the inventory lists and an update answers. */
export const InventoryItem = z.object({
  petId: int64,
  quantity: quantityFrom(0),
  status: PetStatus,
});
export type InventoryItem = z.output<typeof InventoryItem>;

/** An entry of the list, with its tag where that was asked for (`include=etag`). */
export const ListedInventoryItem = z.extend(InventoryItem, { etag: z.exactOptional(z.string()) });
