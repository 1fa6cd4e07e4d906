import { type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { sealCursor } from '../../../shared/store/cursor.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { toInventoryRecord, toVersion } from '../../../shared/store/inventoryRecord.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

/** The version of an entry with a stock of 5, available, that was never updated. */
const unchanged = toVersion({ q: { N: '5' }, s: { S: 'a' } });

describe.each(engines)('the inventory on $name', ({ start }) => {
  const tables = useStoreTables(start);
  let client: DynamoDBClient;
  let store: InventoryList;
  let updates: ReturnType<typeof defineInventoryUpdates>;
  beforeAll(() => {
    client = tables.client();
    store = defineInventoryList(client, 'inventory');
    updates = defineInventoryUpdates(client, 'inventory', 'requests');
  });

  async function put(petId: bigint, quantity = 5, status: InventoryItem['status'] = 'available') {
    const item = toInventoryRecord({ petId, quantity, status });
    await client.send(new PutItemCommand({ TableName: 'inventory', Item: item }));
  }

  async function read(petId: bigint) {
    const key = { p: { N: petId.toString() } };
    const { Item } = await client.send(new GetItemCommand({ TableName: 'inventory', Key: key }));
    return Item;
  }

  async function list(): Promise<string[]> {
    const pages: string[] = [];
    for await (const { items } of store.pages()) pages.push(items.toString());
    return pages;
  }

  it('lists nothing as one last page without entries', async () => {
    const pages = await Array.fromAsync(store.pages());
    expect(pages).toEqual([{ items: Buffer.alloc(0), isLast: true }]);
  });

  it.each([9223372036854775807n, -9223372036854775808n, 9007199254740993n])(
    'keeps %s digit for digit through an update and a list',
    async (petId) => {
      await put(petId);
      const { item } = await updates.setQuantity({ petId: petId, quantity: 7 });
      expect(item).toEqual({ petId, quantity: 7, status: 'available' });
      expect((await list()).join()).toContain(`{"petId":${petId},"quantity":7,`);
    },
  );

  it('leaves the status alone when stock reaches zero', async () => {
    await put(1n, 5, 'pending');
    expect((await updates.setQuantity({ petId: 1n, quantity: 0 })).item).toEqual({
      petId: 1n,
      quantity: 0,
      status: 'pending',
    });
  });

  it('creates nothing, with or without a version', async () => {
    await expect(updates.setQuantity({ petId: 404n, quantity: 1 })).rejects.toMatchObject({
      name: 'NotFound',
      message: 'There is no inventory entry with petId 404.',
    });
    await expect(
      updates.setQuantity({ petId: 404n, quantity: 1, versions: [unchanged] }),
    ).rejects.toMatchObject({ name: 'NotFound' });
    await expect(
      updates.setQuantity({ petId: 404n, quantity: 1, versions: [] }),
    ).rejects.toMatchObject({ name: 'NotFound' });
    expect(await read(404n)).toBeUndefined();
  });

  it('updates an entry only in a state that a version names', async () => {
    await put(2n);
    const first = await updates.setQuantity({ petId: 2n, quantity: 6, versions: [unchanged] });
    await expect(
      updates.setQuantity({ petId: 2n, quantity: 7, versions: [unchanged] }),
    ).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
    const second = await updates.setQuantity({
      petId: 2n,
      quantity: 8,
      versions: ['nonsense', unchanged, first.version],
    });
    expect(second.item.quantity).toBe(8);
    expect(second.version).not.toBe(first.version);
  });

  it('refuses an entry that came back to an earlier stock count', async () => {
    await put(3n, 5);
    const { version } = await updates.setQuantity({ petId: 3n, quantity: 6 });
    await updates.setQuantity({ petId: 3n, quantity: 7 });
    await updates.setQuantity({ petId: 3n, quantity: 6 });
    await expect(
      updates.setQuantity({ petId: 3n, quantity: 1, versions: [version] }),
    ).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
  });

  it('refuses an entry that was loaded anew with another stock count', async () => {
    await put(4n, 5);
    const { version } = await updates.setQuantity({ petId: 4n, quantity: 6 });
    await put(4n, 9);
    await expect(
      updates.setQuantity({ petId: 4n, quantity: 1, versions: [version] }),
    ).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
  });

  it.each([[[]], [['W/AAAABQBh']], [['5.a']], [['']]])(
    'refuses versions that name no state: %j',
    async (versions) => {
      await put(5n);
      await expect(
        updates.setQuantity({ petId: 5n, quantity: 1, versions: versions }),
      ).rejects.toMatchObject({
        name: 'PreconditionFailed',
      });
      expect((await read(5n))?.q).toEqual({ N: '5' });
    },
  );

  describe('in pages', () => {
    const petIds = Array.from({ length: 40 }, (_, index) => BigInt(1_000 + index));

    beforeAll(async () => {
      for (const petId of petIds) await put(petId, 1, petId % 10n === 0n ? 'sold' : 'pending');
    });

    async function readPages(limit: number, status?: InventoryItem['status']) {
      const found: InventoryItem[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.page({ limit, cursor, status });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    }

    it.each([1, 7, 1_000])('of at most %i gives each entry once', async (limit) => {
      const whole = JSON.parse(`[${await list()}]`, (_, value) => value) as { petId: number }[];
      const found = await readPages(limit);
      expect(found.map(({ petId }) => Number(petId))).toEqual(whole.map(({ petId }) => petId));
      expect(new Set(found.map(({ petId }) => petId)).size).toBe(found.length);
    });

    it.each([1, 3, 1_000])('of at most %i gives all entries of one status', async (limit) => {
      const found = await readPages(limit, 'sold');
      expect(found.map(({ petId }) => petId).sort()).toEqual([1_000n, 1_010n, 1_020n, 1_030n]);
    });

    it('fills a page of one status as long as there are such entries', async () => {
      expect((await store.page({ limit: 3, status: 'sold' })).items).toHaveLength(3);
    });

    it('lists all entries of one status as a whole', async () => {
      const pages = await Array.fromAsync(store.pages({ status: 'sold' }));
      expect(
        pages
          .map(({ items }) => items.toString())
          .join()
          .match(/"sold"/g),
      ).toHaveLength(4);
      expect(pages.join()).not.toContain('pending');
    });

    it('gives no page to a cursor that is made up or of another table', async () => {
      const { next = '' } = await store.page({ limit: 1 });
      const foreign = sealCursor('pets', '1');
      const elsewhere = sealCursor('inventory', '1.5');
      for (const cursor of ['', 'nonsense', `${next}A`, next.slice(4), foreign, elsewhere]) {
        await expect(store.page({ limit: 1, cursor })).rejects.toMatchObject({
          name: 'InvalidRequest',
        });
      }
    });
  });
});
