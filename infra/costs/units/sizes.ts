import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

const sizesFile = z.record(
  z.string(),
  z.strictObject({
    /** How many digits the ids of a stage's entries have. */
    idDigits: z.number().check(z.minimum(1), z.maximum(19)),
    /** The share of the entries that was ever updated, and so has a version. */
    taggedShare: z.number().check(z.minimum(0), z.maximum(1)),
  }),
);
export type RecordSizes = Readonly<z.output<typeof sizesFile>[string]>;

/** Of a stage that was not measured: the longest that there are. */
export const usualSizes: RecordSizes = { idDigits: 19, taggedShare: 1 };

/**
 * What a stage's entries are like, as `npm run costs -- --measure` found them.
 * @throws {Error} when they are not written as that says
 */
export function readSizes(stage: string, file = new URL('../sizes.json', import.meta.url)) {
  const { data, error } = sizesFile.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (error) throw new Error(`infra/costs/sizes.json: ${z.prettifyError(error)}`);
  return data[stage] ?? usualSizes;
}

/** Attribute name and value of a version. */
const VERSION_BYTES = 6;

/**
 * The bytes of a record of the inventory. Two digits of a number take one byte:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function toRecordBytes({ idDigits, taggedShare }: RecordSizes): number {
  return 8 + Math.ceil(idDigits / 2) + taggedShare * VERSION_BYTES;
}
