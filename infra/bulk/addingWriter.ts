import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type BatchStatementError,
  type BatchStatementRequest,
  ConditionalCheckFailedException,
  type KeysAndAttributes,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { toKey, toKeyText } from './keySchema.ts';
import type { Item } from './resources.ts';
import { retry, Unprocessed } from './retry.ts';
import { type TableAccess, type WriteGroup, writeBatches } from './tableWriter.ts';

/**
 * Where more of a group than this was there already, the next is looked up before it is written. A
 * refused write costs as much as a write, ten times what an eventually consistent look costs.
 */
const WORTH_READING = 0.1;

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

/** Inserts at most 25 items where there are none, and returns how many were inserted. */
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
  let asked: KeysAndAttributes | undefined = {
    Keys: items.map((item) => toKey(key, item)),
    ProjectionExpression: Object.keys(names).join(', '),
    ExpressionAttributeNames: names,
  };
  await retry(async () => {
    const answer = await client.send(
      new BatchGetItemCommand({ RequestItems: asked && { [tableName]: asked } }),
    );
    for (const item of answer.Responses?.[tableName] ?? []) found.add(toKeyText(key, item));
    asked = answer.UnprocessedKeys?.[tableName];
    if (asked?.Keys?.length) throw new Unprocessed();
  }, table);
  return found;
}
