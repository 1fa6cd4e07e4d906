import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { client, toAnswer } from './client.ts';

const documents = DynamoDBDocumentClient.from(client);

export async function handler({ pathParameters }: APIGatewayProxyEvent) {
  const { Item } = await documents.send(
    new GetCommand({
      TableName: process.env.PETS_TABLE,
      Key: { id: Number(pathParameters?.petId) },
    }),
  );
  return toAnswer(Item);
}
