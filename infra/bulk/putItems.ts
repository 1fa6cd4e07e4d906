import { ConditionalCheckFailedException, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Item } from './resources.ts';
import { retry } from './retry.ts';
import type { TableAccess } from './tableWriter.ts';

/** What `insertItems` does, one call an item, for emulators that know no PartiQL. */
export async function putItems(table: TableAccess, batch: readonly Item[]): Promise<number> {
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
