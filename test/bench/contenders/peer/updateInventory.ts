import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import httpJsonBodyParser from '@middy/http-json-body-parser';
import { z } from 'zod';
import {
  defineHandler,
  documents,
  HttpError,
  PathParameters,
  type StoredEntry,
  toInventoryItem,
} from './middleware.ts';

const InventoryUpdate = z.object({ quantity: z.number().int().min(0).max(2_147_483_647) });

export const handler = defineHandler('write', async ({ pathParameters, body }) => {
  const { petId } = PathParameters.parse(pathParameters);
  const { quantity } = InventoryUpdate.parse(body);
  return toInventoryItem(await setQuantity(petId, quantity));
}).use(httpJsonBodyParser());

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
