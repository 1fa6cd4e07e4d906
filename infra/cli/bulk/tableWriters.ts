import { setTimeout } from 'node:timers/promises';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  type PutItemCommandInput,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { isOutage } from '../../../shared/runtime/dynamodb.ts';
import { countItemBytes, type Item } from './resources.ts';

/** How many items a writer gets together: the limit of one BatchWriteItem. */
export const BATCH_SIZE = 25;
/** Keeps the engine of a local stage busy without a pause. */
const BATCHES_UNDER_WAY = 12;

/** Waits until so many write request units may be used. @throws the signal's reason */
type TakeUnits = (units: number) => Promise<void>;

export interface TableTarget {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  /** Without it, writes as fast as the table allows. */
  readonly takeUnits?: TakeUnits | undefined;
  readonly signal: AbortSignal;
}

/**
 * Writes at most `BATCH_SIZE` items with different keys. Waits for every write even if one fails, so that none goes on
 * after the end.
 * @returns the items that it left alone, since they existed already
 * @throws when an item could not be written
 */
export type WriteBatch = (items: readonly Item[]) => Promise<readonly Item[]>;

export function defineReplacingWriter(table: TableTarget): WriteBatch {
  const { signal } = table;
  return async (items) => {
    if (items.length === 0) return [];
    await begin(table, items);
    let left = items;
    await retry(async () => {
      left = await sendBatch(table, left);
      if (left.length > 0) throw new Unprocessed();
    }, signal);
    return [];
  };
}

/**
 * For a table that is empty: in batches, which replace existing items. Clients may change an item as soon as it is
 * there, so it adds only what is missing if it does not know what of a batch was written.
 * @param keyName the table's partition key
 */
export function defineFillingWriter(table: TableTarget, keyName: string): WriteBatch {
  const add = defineAddingWriter(table, keyName);
  return async (items) => {
    await begin(table, items);
    const left = await sendBatch(table, items).catch((error) => {
      if (isRetryable(error)) return items;
      throw error;
    });
    if (left.length > 0) await add(left);
    return [];
  };
}

/** Leaves existing items alone, which BatchWriteItem cannot do. @param keyName the table's partition key */
export function defineAddingWriter(table: TableTarget, keyName: string): WriteBatch {
  const condition = {
    ConditionExpression: 'attribute_not_exists(#key)',
    ExpressionAttributeNames: { '#key': keyName },
  };
  return async (items) => {
    const added = await waitForAll(items.map((item) => putIf(table, item, condition)));
    return items.filter((_, index) => !added[index]);
  };
}

/** Writes an item if its condition holds. @returns whether it did */
export async function putIf(
  table: TableTarget,
  item: Item,
  condition: Pick<
    PutItemCommandInput,
    'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
  >,
): Promise<boolean> {
  await begin(table, [item]);
  const put = new PutItemCommand({ TableName: table.tableName, Item: item, ...condition });
  try {
    await retry(() => table.client.send(put), table.signal);
    return true;
  } catch (error) {
    if ((error as Error).name === 'ConditionalCheckFailedException') return false;
    throw error;
  }
}

/** The items with these keys, at most 100, that exist. Strongly consistent. */
export async function readItems(
  { client, tableName, signal }: TableTarget,
  keys: readonly Item[],
): Promise<Item[]> {
  const found: Item[] = [];
  let left = [...keys];
  await retry(async () => {
    const RequestItems = { [tableName]: { Keys: left, ConsistentRead: true } };
    const result = await client.send(new BatchGetItemCommand({ RequestItems }));
    found.push(...(result.Responses?.[tableName] ?? []));
    left = result.UnprocessedKeys?.[tableName]?.Keys ?? [];
    if (left.length > 0) throw new Unprocessed();
  }, signal);
  return found;
}

async function begin({ signal, takeUnits }: TableTarget, items: readonly Item[]): Promise<void> {
  signal.throwIfAborted();
  // One for each KB, rounded up. It is too low only if the table has a larger item with this key.
  await takeUnits?.(
    items.reduce((units, item) => units + Math.ceil(countItemBytes(item) / 1_024), 0),
  );
}

/** @returns what DynamoDB left unprocessed */
async function sendBatch(
  { client, tableName }: TableTarget,
  items: readonly Item[],
): Promise<Item[]> {
  const puts: WriteRequest[] = items.map((Item) => ({ PutRequest: { Item } }));
  const batch = new BatchWriteItemCommand({ RequestItems: { [tableName]: puts } });
  const { UnprocessedItems = {} } = await client.send(batch);
  return (UnprocessedItems[tableName] ?? []).map(({ PutRequest }) => PutRequest?.Item ?? {});
}

/**
 * Works on batches, some at a time. After an error, it takes no other batch.
 * @throws the first error, once no work is under way
 */
export async function workThrough<Batch>(
  batches: Iterable<Batch> | AsyncIterable<Batch>,
  work: (batch: Batch) => Promise<void>,
): Promise<void> {
  // One iterator for all: each batch is taken once, and an error ends it.
  const shared = (async function* () {
    yield* batches;
  })();
  async function workInTurn(): Promise<void> {
    for await (const batch of shared) await work(batch);
  }
  await waitForAll(Array.from({ length: BATCHES_UNDER_WAY }, workInTurn));
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
