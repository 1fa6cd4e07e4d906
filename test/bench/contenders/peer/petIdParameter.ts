import { z } from 'zod';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** The `{petId}` of a path: the canonical text of an int64. */
export const PathParameters = z.object({
  petId: z
    .string()
    .regex(/^(?:0|-?[1-9]\d{0,18})$/, 'must be an integer')
    .transform(BigInt)
    .refine((petId) => petId >= MIN && petId <= MAX, 'must be an int64'),
});
