import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { meterRequest } from '../../../shared/runtime/requestUnits.ts';
import { sealCursor } from '../../../shared/store/cursor.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { engines } from '../../support/engines.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { openStoreTables, useStoreTables } from '../../support/storeTables.ts';

const large = 9223372036854775807n;

describe.each(engines)('the inventory on $name', ({ start }) => {
  const tables = useStoreTables(start);
  let endpoint: FaultyEndpoint;
  let client: DynamoDBClient;
  let store: InventoryList;

  /** Twenty entries, of which every fifth is sold; two have a version. */
  beforeAll(async () => {
    endpoint = await startFaultyEndpoint(tables.engine().endpoint);
    client = await openStoreTables(endpoint);
    store = defineInventoryList(client, 'inventory');
    expect(await Array.fromAsync(store.pages())).toEqual([
      { items: Buffer.alloc(0), isLast: true },
    ]);
    const versions = new Map([
      [2n, [0, 0, 0, 0, 1]],
      [large, [254, 1, 2, 3, 4]],
    ]);
    for (const petId of [...Array.from({ length: 19 }, (_, index) => BigInt(index + 1)), large]) {
      const status = petId % 5n === 0n ? 'sold' : 'available';
      const B = versions.get(petId);
      const Item = {
        ...toInventoryRecord({ petId, quantity: 25, status }),
        ...(B && { v: { B: Buffer.from(B) } }),
      };
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
    }
  });
  beforeEach(() => endpoint.heal());
  afterAll(async () => {
    client.destroy();
    await endpoint.close();
  });

  const limits = () => endpoint.requests.map(({ input }) => input.Limit);

  describe('as a whole', () => {
    it('has each entry, digit for digit', async () => {
      const pages = await Array.fromAsync(store.pages());
      const text = pages.map(({ items }) => String(items)).join();
      expect(text.match(/"petId"/g)).toHaveLength(20);
      expect(text).toContain(`{"petId":${large},"quantity":25,"status":"available"}`);
    });

    it('of one status skips the pages that have none of it, but for the last', async () => {
      endpoint.pageSize = 1;
      const pages = await Array.fromAsync(store.pages({ status: 'sold' }));
      expect(pages.slice(0, -1).every(({ items }) => items.length > 0)).toBe(true);
      expect(pages.map(({ isLast }) => isLast).indexOf(true)).toBe(pages.length - 1);
      const texts = pages.map(({ items }) => String(items)).filter(Boolean);
      expect(texts).toHaveLength(3);
      for (const text of texts) expect(text).toContain('"sold"');
    });
  });

  describe('in a page', () => {
    async function readPages(limit: number, status?: InventoryItem['status']) {
      const found: bigint[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.page({ limit, cursor, status });
        expect(page.items.length).toBeLessThanOrEqual(limit);
        found.push(...page.items.map(({ petId }) => petId));
        cursor = page.next;
      } while (cursor !== undefined);
      return found;
    }

    it.each([
      [1, undefined],
      [3, undefined],
      [7, 3],
      [1_000, undefined],
    ])(
      'of at most %i has each entry once, where the database has %s at once',
      async (limit, size) => {
        endpoint.pageSize = size;
        const found = await readPages(limit);
        expect([found.length, new Set(found).size]).toEqual([20, 20]);
        expect((await readPages(limit, 'sold')).sort()).toEqual([10n, 15n, 5n]);
      },
    );

    it('asks for no more entries than it may have, and again only until it is full', async () => {
      const { items, next } = await store.page({ limit: 7 });
      expect(items).toHaveLength(7);
      expect(next).toBeDefined();
      expect(limits()).toEqual([7]);
      endpoint.heal();
      endpoint.pageSize = 3;
      expect((await store.page({ limit: 6 })).items).toHaveLength(6);
      expect(endpoint.requests).toHaveLength(2);
    });

    it('links no page behind one that holds exactly the rest', async () => {
      const first = await store.page({ limit: 12 });
      const second = await store.page({ limit: 8, cursor: first.next });
      const last = second.next && (await store.page({ limit: 8, cursor: second.next }));
      expect(second.items).toHaveLength(8);
      expect(last ? last.items : []).toEqual([]);
    });

    it('of one status looks at many entries at once, since the limit counts before the filter', async () => {
      expect((await store.page({ limit: 2, status: 'sold' })).items).toHaveLength(2);
      expect(limits()).toEqual([5_000]);
    });

    it('is none to a cursor that is made up or of another table', async () => {
      const { next = '' } = await store.page({ limit: 1 });
      const foreign = sealCursor('pets', '1');
      const elsewhere = sealCursor('inventory', '1.5');
      for (const cursor of ['', 'nonsense', `${next}A`, next.slice(4), foreign, elsewhere]) {
        const page = store.page({ limit: 1, cursor });
        await expect(page).rejects.toMatchObject({ name: 'InvalidRequest' });
      }
    });
  });

  describe('by id', () => {
    it.each([
      ['half a unit of one', [1n], false, 0.5],
      ['half a unit of each', [1n, 2n], false, 1],
      ['one of one with its tag, as of this moment', [1n], true, 1],
      ['one of each with its tag', [1n, 2n], true, 2],
    ])('takes %s', async (_, petIds, withTags, read) => {
      const units = meterRequest();
      await store.find(petIds, { withTags });
      expect(units).toMatchObject({ read, write: 0 });
      expect([...endpoint.calls.keys()]).toEqual([petIds.length > 1 ? 'BatchGetItem' : 'GetItem']);
    });

    it('comes in the order that was asked for, each with the tag that it has in a list', async () => {
      const found = await store.find([large, 404n, 2n, 1n], { withTags: true });
      expect(found).toEqual([
        { petId: large, quantity: 25, status: 'available', etag: '"_gECAwQ"' },
        { petId: 2n, quantity: 25, status: 'available', etag: '"AAAAAAE"' },
        { petId: 1n, quantity: 25, status: 'available', etag: '"AAAAGQBh"' },
      ]);
      const pages = await Array.fromAsync(store.pages({ withTags: true }));
      const whole = pages.map(({ items }) => String(items)).join();
      for (const { etag } of found as { etag: string }[]) {
        expect(whole).toContain(`"etag":${JSON.stringify(etag)}}`);
      }
      const page = await store.page({ limit: 20, withTags: true });
      expect(page.items).toEqual(expect.arrayContaining(found));
    });

    it('can be of one status, and is none where none exists', async () => {
      expect(await store.find([1n, 2n], { status: 'sold' })).toEqual([]);
      expect(await store.find([404n])).toEqual([]);
      expect(await store.find([404n, 405n])).toEqual([]);
    });
  });
});

describe('keys that a batch leaves unprocessed', () => {
  const petIds = Array.from({ length: 100 }, (_, index) => BigInt(index));

  /** A table that leaves as many of the keys. */
  function defineBusyTable(leaves: (asked: number) => number) {
    const batches: number[] = [];
    const client = new DynamoDBClient({});
    vi.spyOn(client, 'send').mockImplementation((async ({ input }: never) => {
      const { Keys, ...rest } = (input as { RequestItems: { t: { Keys: object[] } } }).RequestItems
        .t;
      batches.push(Keys.length);
      const processed = Keys.length - leaves(Keys.length);
      const records = Keys.slice(0, processed);
      const left = Keys.slice(processed);
      return {
        Responses: { t: records.map((key) => ({ ...key, q: { N: '1' }, s: { S: 'a' } })) },
        UnprocessedKeys: left.length > 0 ? { t: { Keys: left, ...rest } } : {},
      };
    }) as never);
    return { batches, list: defineInventoryList(client, 't') };
  }

  it('are asked for again, and nothing else', async () => {
    const { batches, list } = defineBusyTable((asked) => (asked > 30 ? 30 : 0));
    const found = await list.find(petIds);
    expect(found.map(({ petId }) => petId)).toEqual(petIds);
    expect(batches).toEqual([100, 30]);
  });

  it('make it an outage when that goes on', async () => {
    const { batches, list } = defineBusyTable(() => 1);
    await expect(list.find(petIds)).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(batches).toEqual([100, 1, 1, 1, 1]);
  });
});
