import type { OperationId } from '../../../shared/contract/operations.ts';

/**
 * The answers that an operation's cost is told of: a status, and what makes it dearer or cheaper than
 * another of the same status. 413 and 415 cost what 400 does, and failures of 500 and more what the answer
 * would have that they stand in place of.
 */
export const answersOf = {
  listInventory: ['200', '200 gzip', '200 zstd', '200 petId', '304', '400', '401', '429'],
  updateInventory: ['200', '200 Idempotency-Key', '400', '401', '403', '404', '412', '429'],
  getPet: ['200', '400', '401', '404', '429'],
  listOrders: ['200', '400', '401', '429'],
} as const satisfies Record<OperationId, readonly string[]>;

export type Answer = (typeof answersOf)[OperationId][number];

/** Of `listInventory`, the answers whose units grow with the inventory. */
export const answersBySize: readonly Answer[] = ['200', '200 gzip', '200 zstd', '304'];

/** The lengths of the inventory, in entries, that those answers were measured at. */
export const measuredSizes = [1_000, 10_000, 100_000] as const;
