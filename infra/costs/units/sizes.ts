import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

const sizesFile = z.record(
  z.string(),
  z.strictObject({
    /** How many digits the entries' ids have. */
    idDigits: z.number().check(z.minimum(1), z.maximum(19)),
    /** The share of entries that have been updated at least once, and so have a version. */
    taggedShare: z.number().check(z.minimum(0), z.maximum(1)),
  }),
);
export type RecordSizes = Readonly<z.output<typeof sizesFile>[string]>;

/** For a stage without measurements: the largest possible. */
export const usualSizes: RecordSizes = { idDigits: 19, taggedShare: 1 };

/**
 * The sizes of a stage's entries, as `npx petstore costs measure` found them.
 * @throws {Error} when the text of the file is invalid
 */
export function readSizes(stage = '', text = readFileSync(committedFile, 'utf8')): RecordSizes {
  const { data, error } = sizesFile.safeParse(JSON.parse(text));
  if (error) throw new Error(`infra/costs/sizes.json: ${z.prettifyError(error)}`);
  return data[stage] ?? usualSizes;
}

const committedFile = new URL('../sizes.json', import.meta.url);

/** The name and value of the version's attribute. */
const VERSION_BYTES = 6;

/**
 * The bytes of an inventory record. Two digits of a number take one byte:
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function toRecordBytes({ idDigits, taggedShare }: RecordSizes): number {
  return 8 + Math.ceil(idDigits / 2) + taggedShare * VERSION_BYTES;
}
