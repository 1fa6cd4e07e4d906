import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { firstEngine } from '../../support/engines.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const tables = useStoreTables(firstEngine.start);
let endpoint: FaultyEndpoint;
let client: DynamoDBClient;
let store: InventoryList;

/** Twenty entries, of which every fifth is sold. */
beforeAll(async () => {
  endpoint = await startFaultyEndpoint(tables.engine().endpoint);
  client = new DynamoDBClient({ endpoint: endpoint.endpoint });
  store = defineInventoryList(client, 'inventory');
  for (let petId = 1n; petId <= 20n; petId += 1n) {
    const status = petId % 5n === 0n ? 'sold' : 'pending';
    const Item = toInventoryRecord({ petId, quantity: 1, status });
    await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
  }
  endpoint.heal();
});
afterEach(() => endpoint.heal());
afterAll(async () => {
  client.destroy();
  await endpoint.close();
});

const limits = () => endpoint.requests.map(({ input }) => input.Limit);

describe('a page of the inventory', () => {
  it('asks for no more entries than it may have, and once', async () => {
    const { items, next } = await store.page({ limit: 7 });
    expect(items).toHaveLength(7);
    expect(next).toBeDefined();
    expect(limits()).toEqual([7]);
  });

  it('asks again when the database answers with fewer, until it is full', async () => {
    endpoint.pageSize = 3;
    const { items } = await store.page({ limit: 6 });
    expect(items).toHaveLength(6);
    expect(endpoint.requests).toHaveLength(2);
  });

  it('never has more than its limit, and goes on behind its last entry', async () => {
    endpoint.pageSize = 3;
    const first = await store.page({ limit: 7 });
    expect(first.items).toHaveLength(7);
    endpoint.pageSize = undefined;
    const rest = await store.page({ limit: 1_000, cursor: first.next });
    const petIds = [...first.items, ...rest.items].map(({ petId }) => petId);
    expect(petIds.sort((one, other) => Number(one - other))).toEqual(
      Array.from({ length: 20 }, (_, index) => BigInt(index + 1)),
    );
  });

  it('links no page behind one that holds exactly the rest', async () => {
    const first = await store.page({ limit: 12 });
    const second = await store.page({ limit: 8, cursor: first.next });
    const last = second.next && (await store.page({ limit: 8, cursor: second.next }));
    expect(second.items).toHaveLength(8);
    expect(last ? last.items : []).toEqual([]);
  });

  it('of one status looks at many entries at once, since the limit counts before the filter', async () => {
    const { items } = await store.page({ limit: 2, status: 'sold' });
    expect(items).toHaveLength(2);
    expect(limits()).toEqual([5_000]);
  });
});

describe('the whole inventory', () => {
  it('of one status skips the pages that have none of it, but for the last', async () => {
    endpoint.pageSize = 1;
    const pages = await Array.fromAsync(store.pages({ status: 'sold' }));
    expect(pages.slice(0, -1).every(({ items }) => items.length > 0)).toBe(true);
    expect(pages.map(({ isLast }) => isLast).indexOf(true)).toBe(pages.length - 1);
    expect(
      pages
        .map(({ items }) => String(items))
        .join()
        .match(/"sold"/g),
    ).toHaveLength(4);
  });
});
