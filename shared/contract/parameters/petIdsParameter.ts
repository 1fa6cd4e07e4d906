import { parseInt64 } from '../values/parseInt64.ts';
import type { Parameter } from './parameter.ts';

const MAX_IDS = 100;

/** The ids of the entries that are wanted, separated by commas; an id that comes again counts once. */
export const petIdsParameter: Parameter<readonly bigint[]> = {
  parse(text) {
    const petIds = text.split(',').map(parseInt64);
    if (petIds.length > MAX_IDS || petIds.includes(undefined)) return undefined;
    return [...new Set(petIds as bigint[])];
  },
  error: `must be 1 to ${MAX_IDS} integers from -9223372036854775808 to 9223372036854775807, separated by commas`,
  description: 'The entries of these ids alone, in this order, without those that do not exist.',
  schema: {
    type: 'array',
    items: { type: 'integer', format: 'int64' },
    minItems: 1,
    maxItems: MAX_IDS,
  },
};
