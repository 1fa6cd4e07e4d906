import * as z from 'zod/mini';
import { type ErrorCode, refusalCodes, statusOfCode } from './errorBody.ts';
import { int64 } from './inventoryAdjustment.ts';
import { quantityFrom } from './inventoryUpdate.ts';
import {
  BOOLEAN_ERROR,
  DATE_TIME_ERROR,
  ORDER_STATUS_ERROR,
  orderStatuses,
  PET_STATUS_ERROR,
  petStatuses,
  TEXT_ERROR,
} from './values.ts';

export const PetStatus = z.enum(petStatuses, { error: PET_STATUS_ERROR });

/** The stock of one pet: an element of the list, and the response about one entry. */
export const InventoryItem = z.object({
  petId: int64,
  quantity: quantityFrom(0),
  status: PetStatus,
});
export type InventoryItem = z.output<typeof InventoryItem>;

/** An entry of the list, with its tag if requested (`include=etag`). */
export const ListedInventoryItem = z.extend(InventoryItem, { etag: z.exactOptional(z.string()) });

/** The entries of an adjustment, after it. */
export const AdjustedInventory = z.object({ entries: z.array(InventoryItem) });

const text = z.string({ error: TEXT_ERROR });
/** A page may use it as a link, so it never has a scheme that runs or holds code, such as `javascript:`. */
const webAddress = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });
const named = z.object({ id: int64, name: text });

export const Pet = z.object({
  id: int64,
  name: text,
  status: PetStatus,
  category: z.exactOptional(named),
  photoUrls: z.exactOptional(z.array(webAddress)),
  tags: z.exactOptional(z.array(named)),
});
export type Pet = z.output<typeof Pet>;

const dateTime = z.iso.datetime({ offset: true, error: DATE_TIME_ERROR });

export const Order = z.object({
  id: int64,
  petId: int64,
  quantity: quantityFrom(1),
  status: z.enum(orderStatuses, { error: ORDER_STATUS_ERROR }),
  placedAt: dateTime,
  shipDate: z.exactOptional(dateTime),
  complete: z.exactOptional(z.boolean({ error: BOOLEAN_ERROR })),
});
export type Order = z.output<typeof Order>;

/** Why an adjustment was refused for a pet. */
export const Refusal = z.object({
  petId: int64,
  code: z.enum(refusalCodes),
  quantity: z.exactOptional(quantityFrom(0)),
  status: z.exactOptional(PetStatus),
});

export const ErrorBody = z.object({
  code: z.enum(Object.keys(statusOfCode) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  status: z.int().check(z.minimum(400), z.maximum(599)),
});
