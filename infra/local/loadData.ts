import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { toKeySchema } from '../bulk/keySchema.ts';
import { defineReplacingWriter } from '../bulk/replacingWriter.ts';
import { type Resource, type ResourceName, resources } from '../bulk/resources.ts';
import { GROUP_SIZE } from '../bulk/tableWriter.ts';
import type { StoreData } from './storeData.ts';

/** How long one call may go on failing, in milliseconds. */
const GIVE_UP_AFTER = 60_000;

export interface LoadOptions {
  /** Ends the load. */
  readonly signal?: AbortSignal | undefined;
  /** Is told how many entries are in the tables, after each group of them. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/**
 * Puts every entry, over any that has its id. The embedded engine shares one thread with the loader, so
 * more than a group at a time gains nothing.
 * @throws the signal's reason
 */
export async function loadData(
  client: DynamoDBClient,
  { inventory, pets, orders }: StoreData,
  { signal = new AbortController().signal, onProgress }: LoadOptions = {},
): Promise<void> {
  let done = 0;

  async function writeAll<Contents>(
    tableName: ResourceName,
    entries: readonly Contents[],
    { toItem }: Pick<Resource<Contents>, 'toItem'>,
  ): Promise<void> {
    const key = toKeySchema(tableName);
    const table = { client, tableName, key, giveUpAfter: GIVE_UP_AFTER, signal };
    const writeGroup = defineReplacingWriter(table);
    for (let next = 0; next < entries.length; next += GROUP_SIZE) {
      const group = entries.slice(next, next + GROUP_SIZE);
      await writeGroup(group.map((entry) => toItem(entry)));
      done += group.length;
      onProgress?.(done);
    }
  }

  await writeAll('inventory', inventory, resources.inventory);
  await writeAll('pets', pets, resources.pets);
  await writeAll('orders', orders, resources.orders);
}
