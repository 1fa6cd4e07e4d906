import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { NotFound } from '../contract/errors.ts';
import { getPet } from '../contract/operations/getPet.ts';
import type { Pet } from '../contract/schemas.ts';
import { PET_STATUS_ERROR, petStatuses } from '../contract/values.ts';
import { defineRecordReader, int64, listOf, mapOf, oneOf, optional, text } from './recordReader.ts';

export function definePetStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** @throws {NotFound} if no pet has this id */
    async get(petId: bigint): Promise<Pet> {
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: { id: petId } }),
      );
      if (!Item) throw new NotFound(getPet.parameters.petId, petId);
      return toPet(Item);
    },
  };
}

const named = mapOf({ id: int64, name: text });

/** An earlier release may have stored addresses that an import refuses now, so any text is one. */
export const toPet = defineRecordReader<Pet>(['id'], {
  id: int64,
  name: text,
  status: oneOf(petStatuses, PET_STATUS_ERROR),
  category: optional(named),
  photoUrls: optional(listOf(text)),
  tags: optional(listOf(named)),
});
