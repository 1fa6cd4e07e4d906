import { type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { InventoryItem } from '../contract/schemas.ts';
import { toInventoryItem, toKey, toVersion } from './inventoryRecord.ts';

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
  return Item && { item: toInventoryItem(Item), version: toVersion(Item) };
}
