import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { z } from 'zod';
import {
  authenticate,
  documents,
  HttpError,
  httpErrorHandler,
  PathParameters,
  responseHeaders,
  type StoredEntry,
  toInventoryItem,
} from './middleware.ts';

const InventoryUpdate = z.object({ quantity: z.number().int().min(0).max(2_147_483_647) });

async function updateInventory(event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> {
  const { petId } = PathParameters.parse(event.pathParameters);
  const { quantity } = InventoryUpdate.parse(event.body);
  return {
    statusCode: 200,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(toInventoryItem(await setQuantity(petId, quantity))),
  };
}

async function setQuantity(petId: bigint, quantity: number): Promise<StoredEntry> {
  try {
    const { Attributes } = await documents.send(
      new UpdateCommand({
        TableName: process.env.INVENTORY_TABLE,
        Key: { p: petId },
        UpdateExpression: 'SET q = :quantity',
        ConditionExpression: 'attribute_exists(p)',
        ExpressionAttributeValues: { ':quantity': quantity },
        ReturnValues: 'ALL_NEW',
      }),
    );
    return Attributes as StoredEntry;
  } catch (error) {
    if ((error as Error).name !== 'ConditionalCheckFailedException') throw error;
    throw new HttpError(404, `There is no inventory entry with petId ${petId}.`);
  }
}

export const handler = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
  .use(responseHeaders())
  .use(httpErrorHandler())
  .use(authenticate('write'))
  .use(httpJsonBodyParser())
  .handler(updateInventory);
