import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Pet } from '../../../shared/contract/schemas.ts';
import { toJson } from '../../../shared/contract/values.ts';
import { defineDocuments } from '../../../shared/runtime/documents.ts';
import { definePetStore, toPetRecord } from '../../../shared/store/petStore.ts';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

describe.each(engines)('the pets on $name', ({ start }) => {
  const tables = useStoreTables(start);
  let documents: DynamoDBDocumentClient;
  beforeAll(() => {
    documents = defineDocuments(tables.client());
  });

  it.each<Pet>([
    { id: -9223372036854775808n, name: 'Rex', status: 'sold' },
    {
      id: 9223372036854775807n,
      name: 'Möhre 🥕',
      status: 'available',
      category: { id: 9007199254740993n, name: 'Rabbits' },
      photoUrls: ['https://img.petstore.example/1.jpg'],
      tags: [{ id: 1n, name: 'long-eared' }],
    },
    { id: 3n, name: '', status: 'pending', photoUrls: [], tags: [] },
  ])('gives back $name as it was put, to the digit and in the contract’s order', async (pet) => {
    await documents.send(new PutCommand({ TableName: 'pets', Item: toPetRecord(pet) }));
    expect(toJson(await definePetStore(documents, 'pets').get(pet.id))).toBe(toJson(pet));
  });

  it('knows no pet that was not put', async () => {
    await expect(definePetStore(documents, 'pets').get(404n)).rejects.toMatchObject({
      name: 'NotFound',
      message: 'There is no pet with petId 404.',
    });
  });
});
