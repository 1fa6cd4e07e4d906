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

const base = { petId: 9007199254740993n, quantity: 2, status: 'placed' } as const;

describe.each(engines)('on $name', ({ start }) => {
  const tables = useStoreTables(start);
  let documents: DynamoDBDocumentClient;
  beforeAll(() => {
    documents = defineDocuments(tables.client());
  });

  describe('orders', () => {
    async function put(order: Order): Promise<void> {
      await documents.send(new PutCommand({ TableName: 'orders', Item: toOrderRecord(order) }));
    }

    it('come newest first, by instant whatever the offset, and by id in one instant', async () => {
      await put({ ...base, id: 1n, placedAt: '2026-11-01T12:00:00Z' });
      await put({ ...base, id: -2n, placedAt: '2026-11-01T13:30:00+02:00' });
      await put({ ...base, id: 30n, placedAt: '2026-11-01T11:45:00.500Z' });
      await put({ ...base, id: 4n, placedAt: '2026-11-01T11:45:00.500Z' });
      const orders = await list();
      expect(orders.map(({ id }) => id)).toEqual([1n, 30n, 4n, -2n]);
    });

    it('keep optional members, and the time as it was written', async () => {
      const order: Order = {
        ...base,
        id: 9223372036854775807n,
        placedAt: '2027-01-01T00:00:00+01:00',
        shipDate: '2027-01-02T00:00:00Z',
        complete: false,
      };
      await put(order);
      const [newest] = await list();
      expect(newest).toStrictEqual(order);
    });

    it('come in pages of any size, each order once', async () => {
      const day = Date.parse('2020-01-01T00:00:00Z');
      for (let id = 1; id <= 5; id++) {
        const placedAt = new Date(day + id).toISOString();
        await put({ ...base, id: BigInt(id), placedAt });
      }
      const all = (await list()).map(({ id }) => id);
      expect(all.slice(-5)).toEqual([5n, 4n, 3n, 2n, 1n]);
      for (const limit of [1, 2, 3, all.length, 1_000]) {
        expect((await list(limit)).map(({ id }) => id)).toEqual(all);
      }
    });

    it('give no page to a cursor that is made up or of another table', async () => {
      const store = defineOrderStore(documents, 'orders');
      const { next = '' } = await store.page({ limit: 1 });
      const foreign = sealCursor('inventory', '2026-11-01T12:00:00.000Z#1');
      const elsewhere = sealCursor('orders', 'petId');
      const position = '2026-11-01T12:00:00.000Z#00000000000000000001';
      const longer = [`x${position}`, `${position}1`].map((text) => sealCursor('orders', text));
      for (const cursor of [
        ...['', 'nonsense', `${next}A`, next.slice(4), foreign, elsewhere],
        ...longer,
      ]) {
        await expect(store.page({ limit: 1, cursor })).rejects.toMatchObject({
          name: 'InvalidRequest',
        });
      }
    });

    /** Every order, page by page. */
    async function list(limit = 2): Promise<Order[]> {
      const store = defineOrderStore(documents, 'orders');
      const orders: Order[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.page({ limit, cursor });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        orders.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      return orders;
    }
  });

  describe('pets', () => {
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
});
