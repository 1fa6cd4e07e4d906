import {
  type AttributeValue,
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
} from '@aws-sdk/client-dynamodb';
import { StoreUnavailable } from '../contract/errors.ts';
import type { InventoryItem } from '../contract/schemas.ts';
import { readVersion, toInventoryItem, toKey } from './inventoryRecord.ts';

export interface InventoryEntry {
  readonly item: InventoryItem;
  /** Identifies this state of the entry; opaque outside the store. */
  readonly version: string;
}

/** One entry, read consistently, since updates depend on its version; undefined if there is none. */
export async function readInventoryEntry(
  client: DynamoDBClient,
  tableName: string,
  petId: bigint,
): Promise<InventoryEntry | undefined> {
  const Key = toKey(petId.toString());
  const { Item } = await client.send(
    new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }),
  );
  return Item && { item: toInventoryItem(Item), version: readVersion(Item) };
}

/** DynamoDB leaves some of a hundred small entries unprocessed only if the table throttles. */
const MAX_ATTEMPTS = 5;

/**
 * The existing records of different ids, at most 100, in the order of the ids.
 * @throws {StoreUnavailable} if DynamoDB leaves some of them unprocessed in every attempt
 */
export async function readInventoryRecords(
  client: DynamoDBClient,
  tableName: string,
  petIds: readonly bigint[],
  consistent: boolean,
): Promise<Record<string, AttributeValue>[]> {
  let keys = petIds.map((petId) => toKey(petId.toString()));
  if (keys.length === 1) {
    const { Item } = await client.send(
      new GetItemCommand({ TableName: tableName, Key: keys[0], ConsistentRead: consistent }),
    );
    return Item ? [Item] : [];
  }
  const records: Record<string, AttributeValue>[] = [];
  for (let attempt = 0; keys.length > 0; attempt += 1) {
    if (attempt === MAX_ATTEMPTS) {
      throw new StoreUnavailable(new Error('DynamoDB left keys of a batch unprocessed.'));
    }
    if (attempt > 0) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 25 * 2 ** attempt));
    }
    const asked = { [tableName]: { Keys: keys, ConsistentRead: consistent } };
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetItemCommand({ RequestItems: asked }),
    );
    records.push(...(Responses[tableName] ?? []));
    keys = UnprocessedKeys[tableName]?.Keys ?? [];
  }
  const recordOf = new Map(records.map((record) => [record.p?.N, record]));
  return petIds
    .map((petId) => recordOf.get(petId.toString()))
    .filter((record) => record !== undefined);
}
