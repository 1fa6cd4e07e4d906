import { setTimeout } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { isOutage } from '../../shared/runtime/dynamodb.ts';
import type { Item } from './resources.ts';

/** How many items a writer gets together: the limit of one BatchWriteItem. */
const BATCH_SIZE = 25;
/** Keeps the engine of a local stage busy without a pause. */
const BATCHES_UNDER_WAY = 12;

/** Waits until so many write request units may be used. @throws the signal's reason */
type TakeUnits = (units: number) => Promise<void>;

interface TableTarget {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Without it, writes as fast as the table allows. */
  readonly takeUnits?: TakeUnits | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes at most `BATCH_SIZE` items with different keys. Waits for every write even if one fails, so that none goes on
 * after the end.
 * @returns the number of written items; the others existed already
 * @throws when an item could not be written
 */
export type WriteBatch = (items: readonly Item[]) => Promise<number>;

export function defineReplacingWriter({
  client,
  tableName,
  takeUnits,
  signal,
}: TableTarget): WriteBatch {
  return async (items) => {
    signal.throwIfAborted();
    await takeUnits?.(items.reduce((units, item) => units + countWriteUnits(item), 0));
    let puts: WriteRequest[] = items.map((item) => ({ PutRequest: { Item: item } }));
    await retry(async () => {
      const command = new BatchWriteItemCommand({ RequestItems: { [tableName]: puts } });
      puts = (await client.send(command)).UnprocessedItems?.[tableName] ?? [];
      if (puts.length > 0) throw new Unprocessed();
    }, signal);
    return items.length;
  };
}

/**
 * Leaves existing items alone, which BatchWriteItem cannot do.
 * @param keyName the table's partition key
 */
export function defineAddingWriter(
  { client, tableName, takeUnits, signal }: TableTarget,
  keyName: string,
): WriteBatch {
  async function add(item: Item): Promise<number> {
    signal.throwIfAborted();
    await takeUnits?.(countWriteUnits(item));
    const put = new PutItemCommand({
      TableName: tableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': keyName },
    });
    try {
      await retry(() => client.send(put), signal);
      return 1;
    } catch (error) {
      if ((error as Error).name === 'ConditionalCheckFailedException') return 0;
      throw error;
    }
  }

  return async (items) => {
    const added = await waitForAll(items.map(add));
    return added.reduce((sum, count) => sum + count, 0);
  };
}

/**
 * Writes items with different keys, some batches at a time. After an error, it starts no other batch.
 * @param onProgress gets the number of items of each batch, and how many of them were written
 * @throws the first error, once no write is under way
 */
export async function writeAll(
  items: Iterable<Item>,
  write: WriteBatch,
  onProgress?: (items: number, written: number) => void,
): Promise<void> {
  const batches = toBatches(items);
  async function writeInTurn(): Promise<void> {
    for (const batch of batches) {
      const written = await write(batch);
      onProgress?.(batch.length, written);
    }
  }
  await waitForAll(Array.from({ length: BATCHES_UNDER_WAY }, writeInTurn));
}

function* toBatches(items: Iterable<Item>): Generator<Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < BATCH_SIZE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Spreads the units evenly, so that no second exceeds the limit. */
export function defineWriteRate(unitsPerSecond: number, signal: AbortSignal): TakeUnits {
  let free = performance.now();
  return async (units) => {
    const now = performance.now();
    const turn = Math.max(free, now);
    free = turn + (units / unitsPerSecond) * 1_000;
    if (turn > now) await setTimeout(turn - now, undefined, { signal });
  };
}

async function waitForAll<Result>(work: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/**
 * The write request units of an item: one for each KB begun. Its JSON has more bytes than DynamoDB counts, so this is
 * sometimes too high. It is too low only if the table has a larger item with this key.
 */
function countWriteUnits(item: Item): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(item)) / 1_024);
}

const BASE_PAUSE_MILLISECONDS = 50;
const MAX_PAUSE_MILLISECONDS = 5_000;
/** About half a minute of pauses. */
const MAX_ATTEMPTS = 20;

/** DynamoDB processed only a part of a batch. The rest must be sent again. */
class Unprocessed extends Error {
  override readonly message = 'DynamoDB left a part of a batch unprocessed.';
}

/**
 * Retries a call after a throttle, an outage of DynamoDB or a conflict with a transaction. The pauses double, and each
 * is a random part of its length (https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/).
 * @param signal ends the pauses, and with them the call
 * @throws the last error of the call, or the signal's reason
 */
export async function retry<Result>(
  call: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isRetryable(error) || attempt === MAX_ATTEMPTS) throw error;
      const longest = Math.min(BASE_PAUSE_MILLISECONDS * 2 ** attempt, MAX_PAUSE_MILLISECONDS);
      await setTimeout(Math.random() * longest, undefined, { signal });
    }
  }
}

/** The SDK leaves conflicts with transactions to its callers. */
function isRetryable(error: unknown): boolean {
  const isConflict = (error as Error).name === 'TransactionConflictException';
  return isConflict || error instanceof Unprocessed || isOutage(error);
}
