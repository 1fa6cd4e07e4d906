import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { NotFound } from '../contract/errors.ts';
import { petId as parameter } from '../contract/parameters.ts';
import type { Pet } from '../contract/schemas.ts';

export function definePetStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** @throws {NotFound} if no pet has this id */
    async get(petId: bigint): Promise<Pet> {
      const { Item } = await client.send(
        new GetCommand({ TableName: tableName, Key: { id: petId } }),
      );
      if (!Item) throw new NotFound(parameter, petId);
      return toPet(Item as Pet);
    },
  };
}

/** The table stores the pet unchanged, with its ids as DynamoDB numbers. */
export function toPetRecord(pet: Pet): Pet {
  return pet;
}

/** DynamoDB does not keep the order of members; this restores the contract's order. */
function toPet({ id, name, status, category, photoUrls, tags }: Pet): Pet {
  return {
    id,
    name,
    status,
    ...(category && { category: { id: category.id, name: category.name } }),
    ...(photoUrls && { photoUrls }),
    ...(tags && { tags: tags.map((tag) => ({ id: tag.id, name: tag.name })) }),
  };
}
