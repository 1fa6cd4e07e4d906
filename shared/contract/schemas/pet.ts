import * as z from 'zod/mini';
import { int64 } from './int64.ts';
import { PetStatus } from './inventory.ts';

const text = z.string({ error: 'must be a string' });
const named = z.object({ id: int64, name: text });

export const Pet = z.object({
  id: int64,
  name: text,
  status: PetStatus,
  category: z.exactOptional(named),
  photoUrls: z.exactOptional(z.array(z.url({ error: 'must be a URI' }))),
  tags: z.exactOptional(z.array(named)),
});
export type Pet = z.output<typeof Pet>;
