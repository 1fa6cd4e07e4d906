import { BatchWriteItemCommand, type WriteRequest } from '@aws-sdk/client-dynamodb';
import type { Item } from './resources.ts';
import { retry, Unprocessed } from './retry.ts';
import { type TableAccess, type WriteGroup, writeBatches } from './tableWriter.ts';

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
