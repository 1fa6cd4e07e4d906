import * as z from 'zod/mini';
import { int64 } from './int64.ts';
import { quantityFrom } from './quantity.ts';

const dateTime = z.iso.datetime({
  offset: true,
  error: 'must be an RFC 3339 date-time, such as "2026-11-01T09:30:00Z"',
});

export const Order = z.object({
  id: int64,
  petId: int64,
  quantity: quantityFrom(1),
  status: z.enum(['placed', 'approved', 'delivered'], {
    error: 'must be "placed", "approved" or "delivered"',
  }),
  placedAt: dateTime,
  shipDate: z.exactOptional(dateTime),
  complete: z.exactOptional(z.boolean({ error: 'must be true or false' })),
});
export type Order = z.output<typeof Order>;
