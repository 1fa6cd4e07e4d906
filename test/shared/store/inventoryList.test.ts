import {
  type BatchGetItemCommand,
  type DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { meterRequest } from '../../../shared/runtime/requestUnits.ts';
import { defineScanPage } from '../../../shared/runtime/sdk/scanPage.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

describe.each(engines)('the inventory on $name', ({ start }) => {
  const { client, endpoint } = useStoreTables(start);
  let store: InventoryList;

  /** Twenty entries; three are sold. */
  beforeAll(async () => {
    store = defineInventoryList(client(), 'inventory', defineScanPage(client()));
    const none = { items: Buffer.alloc(0), isLast: true };
    expect(await Array.fromAsync(store.pages())).toEqual([none]);
    for (let petId = 1n; petId <= 20n; petId++) {
      const status = petId % 5n === 0n && petId < 20n ? 'sold' : 'available';
      const Item = toInventoryRecord({ petId, quantity: 25, status });
      await client().send(new PutItemCommand({ TableName: 'inventory', Item }));
    }
  });

  it('as a whole, of one status, skips all pages without that status except the last', async () => {
    endpoint().pageSize = 1;
    const pages = await Array.fromAsync(store.pages({ status: 'sold' }));
    expect(pages.slice(0, -1).every(({ items }) => items.length > 0)).toBe(true);
    expect(pages.map(({ isLast }) => isLast).indexOf(true)).toBe(pages.length - 1);
    const texts = pages.map(({ items }) => String(items)).filter(Boolean);
    expect(texts).toHaveLength(3);
    for (const text of texts) expect(text).toContain('"sold"');
  });

  it('in a page requests only as many entries as fit, and stops when it is full', async () => {
    const { items, next } = await store.page({ limit: 7 });
    expect(items).toHaveLength(7);
    expect(endpoint().requests).toMatchObject([{ input: { Limit: 7 } }]);
    endpoint().pageSize = 3;
    const rest = await store.page({ limit: 13, cursor: next });
    expect(new Set([...items, ...rest.items].map(({ petId }) => petId)).size).toBe(20);
    await endpoint().heal();
    endpoint().pageSize = 3;
    expect((await store.page({ limit: 6 })).items).toHaveLength(6);
    expect(endpoint().requests).toHaveLength(2);
  });

  it('in a page of one status reads many entries at once, since the limit counts before the filter', async () => {
    expect((await store.page({ limit: 2, status: 'sold' })).items).toHaveLength(2);
    expect(endpoint().requests).toMatchObject([{ input: { Limit: 5_000 } }]);
  });

  it.each([
    ['half a unit of one', [1n], false, 0.5],
    ['half a unit of each', [1n, 2n], false, 1],
    ['one of one with its tag, read consistently', [1n], true, 1],
    ['one of each with its tag', [1n, 2n], true, 2],
  ])('by id takes %s', async (_, petIds, withTags, read) => {
    const units = meterRequest();
    await store.find(petIds, { withTags });
    expect(units).toMatchObject({ read, write: 0 });
    expect([...endpoint().calls.keys()]).toEqual([petIds.length > 1 ? 'BatchGetItem' : 'GetItem']);
  });
});

describe('keys that a batch leaves unprocessed', () => {
  const petIds = Array.from({ length: 100 }, (_, index) => BigInt(index));

  /** A table that leaves so many keys unprocessed. */
  function defineBusyTable(leaves: (asked: number) => number) {
    const batches: number[] = [];
    const send = async ({ input }: BatchGetItemCommand) => {
      const { Keys = [], ...rest } = input.RequestItems?.t ?? {};
      batches.push(Keys.length);
      const left = Keys.splice(Keys.length - leaves(Keys.length));
      return {
        Responses: { t: Keys.map((key) => ({ ...key, q: { N: '1' }, s: { S: 'a' } })) },
        UnprocessedKeys: left.length > 0 ? { t: { Keys: left, ...rest } } : {},
      };
    };
    const client = { send } as unknown as DynamoDBClient;
    return { batches, list: defineInventoryList(client, 't', undefined as never) };
  }

  it('are requested again, and nothing else', async () => {
    const { batches, list } = defineBusyTable((asked) => (asked > 30 ? 30 : 0));
    const found = await list.find(petIds);
    expect(found.map(({ petId }) => petId)).toEqual(petIds);
    expect(batches).toEqual([100, 30]);
  });

  it('are an outage if this goes on', async () => {
    const { batches, list } = defineBusyTable(() => 1);
    await expect(list.find(petIds)).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(batches).toEqual([100, 1, 1, 1, 1]);
  });
});
