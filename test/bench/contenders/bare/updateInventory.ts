import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { client, toAnswer } from './client.ts';

export async function handler({ body, pathParameters }: APIGatewayProxyEvent) {
  const { quantity } = JSON.parse(body ?? '');
  const { Attributes } = await client.send(
    new UpdateItemCommand({
      TableName: process.env.INVENTORY_TABLE,
      Key: { p: { N: pathParameters?.petId ?? '' } },
      UpdateExpression: 'SET q = :quantity ADD v :one',
      ConditionExpression: 'attribute_exists(p)',
      ExpressionAttributeValues: { ':quantity': { N: String(quantity) }, ':one': { N: '1' } },
      ReturnValues: 'ALL_NEW',
    }),
  );
  return toAnswer({
    petId: Attributes?.p?.N,
    quantity: Attributes?.q?.N,
    status: Attributes?.s?.S,
  });
}
