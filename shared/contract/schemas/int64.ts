import * as z from 'zod/mini';
import { INT64_ERROR } from '../values/parseInt64.ts';

/** An int64 in a JSON document read by `parseJson`, where integers past 2^53 arrive as bigint. */
export const int64 = z.pipe(
  z.union([z.int(), z.int64()], { error: INT64_ERROR }),
  z.transform((value: number | bigint) => BigInt(value)),
);
