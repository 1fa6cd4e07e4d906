import * as z from 'zod/mini';
import { int64 } from './int64.ts';
import { MAX_QUANTITY } from './inventory.ts';

const quantityError = `must be an integer from 1 to ${MAX_QUANTITY}`;
const dateTime = z.iso.datetime({
  offset: true,
  error: 'must be an RFC 3339 date-time, such as "2026-11-01T09:30:00Z"',
});

export const Order = z.object({
  id: int64,
  petId: int64,
  quantity: z
    .int({ error: quantityError })
    .check(
      z.minimum(1, { error: quantityError }),
      z.maximum(MAX_QUANTITY, { error: quantityError }),
    ),
  status: z.enum(['placed', 'approved', 'delivered'], {
    error: 'must be "placed", "approved" or "delivered"',
  }),
  placedAt: dateTime,
  shipDate: z.exactOptional(dateTime),
  complete: z.exactOptional(z.boolean({ error: 'must be true or false' })),
});
export type Order = z.output<typeof Order>;
