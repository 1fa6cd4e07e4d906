import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { KeySchema } from './keySchema.ts';
import type { Item } from './resources.ts';
import type { Patience } from './retry.ts';
import { countWriteUnits, type WriteRate } from './writeRate.ts';

/** How many items are handed to a writer together: as many as one BatchGetItem takes. */
export const GROUP_SIZE = 100;
/** The most that one BatchWriteItem or BatchExecuteStatement takes. */
const BATCH_SIZE = 25;

export interface TableAccess extends Patience {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly key: KeySchema;
  /** Without one, as fast as the table takes it. */
  readonly rate?: WriteRate | undefined;
}

export interface Written {
  readonly written: number;
  /** Entries that were there already and were left alone. */
  readonly kept: number;
}

/** Writes at most `GROUP_SIZE` items with different keys. @throws when one could not be written */
export type WriteGroup = (items: readonly Item[]) => Promise<Written>;

/**
 * Writes the items in batches, all at once, and sums up what the batches return. Waits for every
 * batch, also when one fails, so that nothing is still being written after the end.
 * @throws the signal's reason, or what a batch threw
 */
export async function writeBatches(
  { rate, signal }: TableAccess,
  items: readonly Item[],
  writeBatch: (batch: readonly Item[]) => Promise<number>,
): Promise<number> {
  async function writeInTurn(batch: readonly Item[]): Promise<number> {
    signal.throwIfAborted();
    await rate?.take(countWriteUnits(batch));
    return writeBatch(batch);
  }

  const batches = Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, index) =>
    items.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
  );
  let sum = 0;
  for (const outcome of await Promise.allSettled(batches.map(writeInTurn))) {
    if (outcome.status === 'rejected') throw outcome.reason;
    sum += outcome.value;
  }
  return sum;
}
