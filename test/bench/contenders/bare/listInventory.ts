import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { client, toAnswer } from './client.ts';

export async function handler() {
  const items = [];
  let next: Record<string, AttributeValue> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new ScanCommand({ TableName: process.env.INVENTORY_TABLE, ExclusiveStartKey: next }),
    );
    for (const { p, q, s } of Items) items.push({ petId: p?.N, quantity: q?.N, status: s?.S });
    next = LastEvaluatedKey;
  } while (next);
  return toAnswer(items);
}
