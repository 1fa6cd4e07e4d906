import { readFileSync } from 'node:fs';

/** What a stage's entries are like. */
export interface RecordSizes {
  /** How many digits their ids have. */
  readonly idDigits: number;
  /** The share of them that was ever updated, and so has a version. */
  readonly taggedShare: number;
}

/** Where each stage's sizes stand, as `npm run costs -- --measure` found them. */
export const sizesFile = new URL('../sizes.json', import.meta.url);

/** Of a stage that was not measured: the longest that there are. */
export const usualSizes: RecordSizes = { idDigits: 19, taggedShare: 1 };

export function readSizes(stage: string): RecordSizes {
  return JSON.parse(readFileSync(sizesFile, 'utf8'))[stage] ?? usualSizes;
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
