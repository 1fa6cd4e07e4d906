import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toKeySchema } from '../bulk/keySchema.ts';
import { defineReplacingWriter } from '../bulk/replacingWriter.ts';
import { type Item, type ResourceName, resources } from '../bulk/resources.ts';
import { GROUP_SIZE } from '../bulk/tableWriter.ts';
import type { StoreData } from './storeData.ts';

/** How long one call may go on failing, in milliseconds. */
const GIVE_UP_AFTER = 60_000;

/**
 * Puts every entry, over any that has its id. Some 12,000 entries a second on the embedded engine, which
 * shares one thread with the loader: more than a group at a time gains next to nothing.
 */
export async function loadData(
  client: DynamoDBClient,
  { inventory, pets, orders }: StoreData,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  async function writeAll(tableName: ResourceName, items: readonly Item[]): Promise<void> {
    const key = toKeySchema(tableName);
    const table = { client, tableName, key, giveUpAfter: GIVE_UP_AFTER, signal };
    const writeGroup = defineReplacingWriter(table);
    for (let next = 0; next < items.length; next += GROUP_SIZE) {
      await writeGroup(items.slice(next, next + GROUP_SIZE));
    }
  }

  await writeAll('inventory', inventory.map(resources.inventory.toItem));
  await writeAll('pets', pets.map(resources.pets.toItem));
  await writeAll('orders', orders.map(resources.orders.toItem));
}
