import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { Engine } from '../../../infra/local/engine/engine.ts';
import type { CannedItem } from '../canned/itemSize.ts';

/** The read request units that an engine itself counts for a Scan of so many entries. */
export async function scanOnEngine(
  { endpoint }: Engine,
  entries: number,
  toItem: (index: number) => CannedItem,
): Promise<number> {
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' };
  const client = new DynamoDBClient({ endpoint, region: 'local', credentials });
  const [partitionKey = ''] = Object.keys(toItem(0));
  const TableName = `inventory-by-${partitionKey}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: partitionKey, AttributeType: 'N' }],
      KeySchema: [{ AttributeName: partitionKey, KeyType: 'HASH' }],
    }),
  );
  for (let index = 0; index < entries; index += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, entries - index);
    const puts = Array.from({ length }, (_, offset) => ({
      PutRequest: { Item: toItem(index + offset) as never },
    }));
    await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: puts } }));
  }
  const units = await scan(client, TableName);
  client.destroy();
  return units;
}

/** DynamoDB's limit for one BatchWriteItem. */
const BATCH_SIZE = 25;

async function scan(client: DynamoDBClient, TableName: string): Promise<number> {
  let units = 0;
  let ExclusiveStartKey: Record<string, never> | undefined;
  do {
    const { ConsumedCapacity, LastEvaluatedKey } = await client.send(
      new ScanCommand({ TableName, ExclusiveStartKey, ReturnConsumedCapacity: 'TOTAL' }),
    );
    units += ConsumedCapacity?.CapacityUnits ?? 0;
    ExclusiveStartKey = LastEvaluatedKey as typeof ExclusiveStartKey;
  } while (ExclusiveStartKey);
  return units;
}
