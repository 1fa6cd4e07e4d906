import * as z from 'zod/mini';
import { DELTA_ERROR, INT64_ERROR, MAX_ADJUSTMENTS, MAX_QUANTITY } from './values.ts';

/** An int64 in a JSON document read by `parseJson`, where integers past 2^53 arrive as bigint. */
export const int64 = z.pipe(
  z.union([z.int({ error: INT64_ERROR }), z.int64({ error: INT64_ERROR })], {
    error: INT64_ERROR,
  }),
  z.transform((value: number | bigint) => BigInt(value)),
);

/** What to add to the stock count of one pet. Other members are ignored. */
export const InventoryAdjustment = z.object(
  {
    petId: int64,
    delta: z.int({ error: DELTA_ERROR }).check(
      z.minimum(-MAX_QUANTITY),
      z.maximum(MAX_QUANTITY),
      z.refine((delta) => delta !== 0, { error: DELTA_ERROR }),
    ),
  },
  { error: 'must be an object, such as {"petId": 7, "delta": -1}' },
);
export type InventoryAdjustment = z.output<typeof InventoryAdjustment>;

const LENGTH_ERROR = `must be a list of 1 to ${MAX_ADJUSTMENTS} adjustments, each of another pet`;

/** The first pet that is there twice, as a parsed list or as the request's own. */
function findRepeated(adjustments: unknown): bigint | undefined {
  const petIds = new Set<bigint>();
  for (const { petId } of adjustments as { petId: number | bigint }[]) {
    if (petIds.has(BigInt(petId))) return BigInt(petId);
    petIds.add(BigInt(petId));
  }
  return undefined;
}

/** The body of an adjustment of the stock. Members other than `adjustments` are ignored. */
export const InventoryAdjustments = z.object(
  {
    adjustments: z.array(InventoryAdjustment, { error: LENGTH_ERROR }).check(
      z.minLength(1),
      z.maxLength(MAX_ADJUSTMENTS),
      z.refine((adjustments) => findRepeated(adjustments) === undefined, {
        error: ({ input }) => `has petId ${findRepeated(input)} twice: add its deltas`,
      }),
    ),
  },
  {
    error:
      'must be a JSON object with a list of adjustments, such as {"adjustments": [{"petId": 7, "delta": -1}]}',
  },
);
