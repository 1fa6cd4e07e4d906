import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Resource, type ResourceName, resources, toKeySchema } from '../bulk/resources.ts';
import { defineReplacingWriter, GROUP_SIZE } from '../bulk/tableWriters.ts';
import type { StoreData } from './storeData.ts';

/** How long one call may go on failing, in milliseconds. */
const GIVE_UP_AFTER = 60_000;

export interface LoadOptions {
  /** Ends the load. */
  readonly signal?: AbortSignal | undefined;
  /** Is told how many entries are in the tables, after each group of them. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** So that the engine's thread never waits for this one. */
const GROUPS_UNDER_WAY = 3;

/**
 * Puts every entry, over any that has its id.
 * @throws the signal's reason, or what a write threw
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
    let next = 0;

    async function writeInTurn(): Promise<void> {
      while (next < entries.length) {
        const group = entries.slice(next, next + GROUP_SIZE);
        next += GROUP_SIZE;
        await writeGroup(group.map((entry) => toItem(entry)));
        done += group.length;
        onProgress?.(done);
      }
    }

    await Promise.all(Array.from({ length: GROUPS_UNDER_WAY }, writeInTurn));
  }

  await writeAll('inventory', inventory, resources.inventory);
  await writeAll('pets', pets, resources.pets);
  await writeAll('orders', orders, resources.orders);
}
