import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Order, Pet } from '../../../shared/contract/schemas.ts';
import { toJson } from '../../../shared/contract/values.ts';
import { defineDocuments } from '../../../shared/runtime/documents.ts';
import { defineScanPage } from '../../../shared/runtime/sdk/scanPage.ts';
import { sealCursor } from '../../../shared/store/cursor.ts';
import { defineInventoryList } from '../../../shared/store/inventoryList.ts';
import { defineOrderStore, toOrderRecord } from '../../../shared/store/orderStore.ts';
import { definePetStore, toPetRecord } from '../../../shared/store/petStore.ts';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const order = { petId: 9007199254740993n, quantity: 2, status: 'placed' } as const;

/** Newest first: by instant with any offset, then by id. */
const orders: Order[] = [
  { ...order, id: 9223372036854775807n, placedAt: '2027-01-01T00:00:00+01:00', complete: false },
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

  it('orders are listed newest first, as stored, page by page', async () => {
    const store = defineOrderStore(documents, 'orders');
    const first = await store.page({ limit: 3 });
    const second = await store.page({ limit: 3, cursor: first.next });
    expect([...first.items, ...second.items]).toStrictEqual(orders);
    expect(second.next).toBeUndefined();
  });

  it.each([
    ['orders', 'petId', 'orders'],
    ['orders', 'x2026-11-01T12:00:00.000Z#00000000000000000001', 'orders'],
    ['orders', '2026-11-01T12:00:00.000Z#000000000000000000011', 'orders'],
    ['inventory', '1.5', 'inventory'],
    ['inventory', '1', 'orders'],
  ])(
    'there is no page of %s at %s with the seal of %s: a position and its seal must be that of the table',
    async (table, at, sealed) => {
      const request = { limit: 1, cursor: sealCursor(sealed, at) };
      const page =
        table === 'orders'
          ? defineOrderStore(documents, 'orders').page(request)
          : defineInventoryList(tables.client(), 'inventory', defineScanPage(tables.client())).page(
              request,
            );
      await expect(page).rejects.toMatchObject({ name: 'InvalidRequest' });
    },
  );

  it('a pet is as stored, in the contract’s order of members', async () => {
    const pet: Pet = {
      id: 9223372036854775807n,
      name: 'Möhre 🥕',
      status: 'available',
      category: { id: 9007199254740993n, name: 'Rabbits' },
      photoUrls: ['https://img.petstore.example/1.jpg'],
      tags: [{ id: 1n, name: 'long-eared' }],
    };
    await documents.send(new PutCommand({ TableName: 'pets', Item: toPetRecord(pet) }));
    expect(toJson(await definePetStore(documents, 'pets').get(pet.id))).toBe(toJson(pet));
  });
});
