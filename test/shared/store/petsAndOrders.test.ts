import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Order, Pet } from '../../../shared/contract/schemas.ts';
import { toJson } from '../../../shared/contract/values.ts';
import { defineDocuments } from '../../../shared/runtime/documents.ts';
import { sealCursor } from '../../../shared/store/cursor.ts';
import { defineOrderStore, toOrderRecord } from '../../../shared/store/orderStore.ts';
import { definePetStore, toPetRecord } from '../../../shared/store/petStore.ts';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const order = { petId: 9007199254740993n, quantity: 2, status: 'placed' } as const;

/** The newest first: by instant whatever the offset, and by id in one instant. */
const orders: Order[] = [
  {
    ...order,
    id: 9223372036854775807n,
    placedAt: '2027-01-01T00:00:00+01:00',
    shipDate: '2027-01-02T00:00:00Z',
    complete: false,
  },
  { ...order, id: 1n, placedAt: '2026-11-01T12:00:00Z' },
  { ...order, id: 30n, placedAt: '2026-11-01T11:45:00.500Z' },
  { ...order, id: 4n, placedAt: '2026-11-01T11:45:00.500Z' },
  { ...order, id: -2n, placedAt: '2026-11-01T13:30:00+02:00' },
];

describe.each(engines)('on $name', ({ start }) => {
  const tables = useStoreTables(start);
  let documents: DynamoDBDocumentClient;
  beforeAll(async () => {
    documents = defineDocuments(tables.client());
    for (const each of orders) {
      await documents.send(new PutCommand({ TableName: 'orders', Item: toOrderRecord(each) }));
    }
  });

  it.each([1, 2, 3, 5, 1_000])(
    'orders come newest first, as they were put, in pages of %i',
    async (limit) => {
      const store = defineOrderStore(documents, 'orders');
      const listed: Order[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.page({ limit, cursor });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        listed.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(listed).toStrictEqual(orders);
    },
  );

  it('orders have no page at a cursor that is made up or of another table', async () => {
    const store = defineOrderStore(documents, 'orders');
    const { next = '' } = await store.page({ limit: 1 });
    const position = '2026-11-01T12:00:00.000Z#00000000000000000001';
    const cursors = [
      ...['', 'nonsense', `${next}A`, next.slice(4)],
      sealCursor('inventory', position),
      ...['petId', `x${position}`, `${position}1`].map((text) => sealCursor('orders', text)),
    ];
    for (const cursor of cursors) {
      const page = store.page({ limit: 1, cursor });
      await expect(page).rejects.toMatchObject({ name: 'InvalidRequest' });
    }
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
  ])('the pet $name is as it was put, to the digit and in the contract’s order', async (pet) => {
    await documents.send(new PutCommand({ TableName: 'pets', Item: toPetRecord(pet) }));
    expect(toJson(await definePetStore(documents, 'pets').get(pet.id))).toBe(toJson(pet));
  });

  it('a pet that was not put is not found', async () => {
    await expect(definePetStore(documents, 'pets').get(404n)).rejects.toMatchObject({
      name: 'NotFound',
      message: 'There is no pet with petId 404.',
    });
  });
});
