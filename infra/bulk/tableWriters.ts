import { setTimeout } from 'node:timers/promises';
import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type BatchStatementError,
  type BatchStatementRequest,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  type KeysAndAttributes,
  PutItemCommand,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { type Item, type KeySchema, toKey, toKeyText } from './resources.ts';
import { type RetryLimits, retry, Unprocessed } from './retry.ts';

/** How many items are handed to a writer together: as many as one BatchGetItem takes. */
export const GROUP_SIZE = 100;
/** The most that one BatchWriteItem or BatchExecuteStatement takes. */
const BATCH_SIZE = 25;

/**
 * Where more of a group than this was there already, the next is looked up before it is written. A
 * refused write costs as much as a write, ten times what an eventually consistent look costs.
 */
const WORTH_READING = 0.1;

/** Waits until so many write request units may be used. @throws the signal's reason */
export type TakeUnits = (units: number) => Promise<void>;

export interface TableAccess extends RetryLimits {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly key: KeySchema;
  /** Without one, as fast as the table takes it. */
  readonly takeUnits?: TakeUnits | undefined;
}

export interface Written {
  readonly written: number;
  /** Entries that were there already and were left alone. */
  readonly kept: number;
}

/** Writes at most `GROUP_SIZE` items with different keys. @throws when one could not be written */
export type WriteGroup = (items: readonly Item[]) => Promise<Written>;

/** Writes over what is there. */
export function defineReplacingWriter(table: TableAccess): WriteGroup {
  const { client, tableName } = table;

  async function replaceBatch(batch: readonly Item[]): Promise<number> {
    let puts: WriteRequest[] = batch.map((item) => ({ PutRequest: { Item: item } }));
    await retry(async () => {
      const command = new BatchWriteItemCommand({ RequestItems: { [tableName]: puts } });
      puts = (await client.send(command)).UnprocessedItems?.[tableName] ?? [];
      if (puts.length > 0) throw new Unprocessed();
    }, table);
    return batch.length;
  }

  return async (items) => ({ written: await writeBatches(table, items, replaceBatch), kept: 0 });
}

/**
 * Leaves alone what is there. BatchWriteItem takes no conditions, and a look before an unconditional
 * write could still run over an update made between the two; PartiQL's INSERT fails where an item is
 * there, costs what a put costs, and goes 25 at a time.
 */
export function defineAddingWriter(table: TableAccess): WriteGroup {
  let knowsPartiql = true;
  let readsFirst = false;

  async function addBatch(batch: readonly Item[]): Promise<number> {
    if (knowsPartiql) {
      try {
        return await insertItems(table, batch);
      } catch (error) {
        if ((error as Error).name !== 'UnknownOperationException') throw error;
        knowsPartiql = false;
      }
    }
    return putItems(table, batch);
  }

  return async function addGroup(items) {
    const existing = readsFirst ? await readExistingKeys(table, items) : new Set<string>();
    const absent = items.filter((item) => !existing.has(toKeyText(table.key, item)));
    const written = await writeBatches(table, absent, addBatch);
    const kept = items.length - written;
    readsFirst = kept > items.length * WORTH_READING;
    return { written, kept };
  };
}

/** Spreads the units evenly over time, so that no second gets more than the bound. */
export function defineWriteRate(unitsPerSecond: number, signal: AbortSignal): TakeUnits {
  let free = performance.now();
  return async (units) => {
    signal.throwIfAborted();
    const now = performance.now();
    const turn = Math.max(free, now);
    free = turn + (units / unitsPerSecond) * 1_000;
    if (turn > now) await setTimeout(turn - now, undefined, { signal });
  };
}

/** Waits for every batch, also when one fails, so that nothing is still being written after the end. */
async function writeBatches(
  { takeUnits, signal }: TableAccess,
  items: readonly Item[],
  writeBatch: (batch: readonly Item[]) => Promise<number>,
): Promise<number> {
  async function writeInTurn(batch: readonly Item[]): Promise<number> {
    signal.throwIfAborted();
    await takeUnits?.(countWriteUnits(batch));
    return writeBatch(batch);
  }

  const batches: Promise<number>[] = [];
  for (let start = 0; start < items.length; start += BATCH_SIZE) {
    batches.push(writeInTurn(items.slice(start, start + BATCH_SIZE)));
  }
  await Promise.allSettled(batches);
  return (await Promise.all(batches)).reduce((sum, count) => sum + count, 0);
}

/** @returns how many were inserted */
async function insertItems(table: TableAccess, batch: readonly Item[]): Promise<number> {
  let inserted = 0;
  let rest = batch;
  await retry(async () => {
    const Statements = rest.map((item) => toStatement(table.tableName, item));
    const { Responses = [] } = await table.client.send(
      new BatchExecuteStatementCommand({ Statements }),
    );
    inserted += Responses.filter(({ Error: failure }) => failure === undefined).length;
    rest = rest.filter((_, index) => mustRepeat(Responses[index]?.Error));
    if (rest.length > 0) throw new Unprocessed();
  }, table);
  return inserted;
}

function toStatement(tableName: string, item: Item): BatchStatementRequest {
  const members = Object.keys(item).map((name) => `'${name}': ?`);
  return {
    Statement: `INSERT INTO "${tableName}" VALUE {${members.join(', ')}}`,
    Parameters: Object.values(item),
  };
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchStatementError.html */
const passing = new Set([
  'InternalServerError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'ThrottlingError',
  'TransactionConflict',
]);

/** @throws {Error} when repeating the statement would not help */
function mustRepeat(failure: BatchStatementError | undefined): boolean {
  if (failure === undefined || failure.Code === 'DuplicateItem') return false;
  if (passing.has(String(failure.Code))) return true;
  throw new Error(`DynamoDB refused an item: ${failure.Code}: ${failure.Message}`);
}

/** What `insertItems` does, one call an item, for emulators that know no PartiQL. */
async function putItems(table: TableAccess, batch: readonly Item[]): Promise<number> {
  const { client, tableName, key, signal } = table;
  let written = 0;
  for (const item of batch) {
    signal.throwIfAborted();
    const put = new PutItemCommand({
      TableName: tableName,
      Item: item,
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': key[0] },
    });
    try {
      await retry(() => client.send(put), table);
      written += 1;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }
  return written;
}

/**
 * Which of at most 100 items the table has, as key texts. It may miss one that was written just now,
 * so the write itself has to be conditional.
 */
async function readExistingKeys(
  table: TableAccess,
  items: readonly Item[],
): Promise<ReadonlySet<string>> {
  const { client, tableName, key } = table;
  const found = new Set<string>();
  const names = Object.fromEntries(key.map((name, index) => [`#k${index}`, name]));
  let rest: KeysAndAttributes | undefined = {
    Keys: items.map((item) => toKey(key, item)),
    ProjectionExpression: Object.keys(names).join(', '),
    ExpressionAttributeNames: names,
  };
  await retry(async () => {
    const answer = await client.send(
      new BatchGetItemCommand({ RequestItems: rest && { [tableName]: rest } }),
    );
    for (const item of answer.Responses?.[tableName] ?? []) found.add(toKeyText(key, item));
    rest = answer.UnprocessedKeys?.[tableName];
    if (rest?.Keys?.length) throw new Unprocessed();
  }, table);
  return found;
}

/**
 * The write request units that items take: one for each KB begun. Their JSON has more bytes than
 * DynamoDB counts, so this is at times too many and never too few.
 */
function countWriteUnits(items: readonly Item[]): number {
  return items.reduce(
    (units, item) => units + Math.ceil(Buffer.byteLength(JSON.stringify(item)) / 1_024),
    0,
  );
}
