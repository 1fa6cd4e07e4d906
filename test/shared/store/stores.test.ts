import {
  type AttributeValue,
  type BatchGetItemCommand,
  type DynamoDBClient,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { toJson } from '../../../shared/contract/json.ts';
import type { Order, Pet } from '../../../shared/contract/schemas.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { meterRequest } from '../../../shared/runtime/requestUnits.ts';
import { sealCursor } from '../../../shared/store/cursor.ts';
import { defineDocuments } from '../../../shared/store/documents.ts';
import { defineInventoryAdjustments } from '../../../shared/store/inventoryAdjustments.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { defineOrderStore, toOrderRecord } from '../../../shared/store/orderStore.ts';
import { toPet } from '../../../shared/store/petStore.ts';
import { testEngine } from '../../support/engines.ts';
import { skipBackOff } from '../../support/faults/clock.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const order = { petId: 9007199254740993n, quantity: 2, status: 'placed' } as const;

const pet: Pet = {
  id: 9223372036854775807n,
  name: 'Möhre 🥕',
  status: 'available',
  category: { id: 9007199254740993n, name: 'Rabbits' },
  photoUrls: ['https://img.petstore.example/1.jpg'],
  tags: [{ id: 1n, name: 'long-eared' }],
};

/** Newest first: by instant with any offset, then by id. */
const orders: Order[] = [
  { ...order, id: 9223372036854775807n, placedAt: '2027-01-01T00:00:00+01:00', complete: false },
  { ...order, id: 1n, placedAt: '2026-11-01T12:00:00Z' },
  { ...order, id: 30n, placedAt: '2026-11-01T11:45:00.500Z' },
  { ...order, id: 4n, placedAt: '2026-11-01T11:45:00.500Z' },
  { ...order, id: -2n, placedAt: '2026-11-01T13:30:00+02:00' },
];

describe(`on ${testEngine.name}`, () => {
  const { client, endpoint } = useStoreTables(testEngine.start);
  let store: InventoryList;
  const put = (Item: Record<string, AttributeValue>, more: object = {}) =>
    client().send(new PutItemCommand({ TableName: 'inventory', Item, ...more }));
  const putPet = (pet: Pet, more: Record<string, AttributeValue> = {}) => {
    const Item = { ...marshall(pet), ...more };
    return client().send(new PutItemCommand({ TableName: 'pets', Item }));
  };
  /** As an operation reads a pet. */
  const readPet = async (id: bigint) => {
    const get = new GetCommand({ TableName: 'pets', Key: { id } });
    const { Item = {} } = await defineDocuments(client()).send(get);
    return toPet(Item);
  };
  const putOrder = (one: Order, more: Record<string, AttributeValue> = {}) => {
    const Item = { ...marshall(toOrderRecord(one)), ...more };
    return client().send(new PutItemCommand({ TableName: 'orders', Item }));
  };

  /** Twenty entries; three are sold. And the orders. */
  beforeAll(async () => {
    store = defineInventoryList(client(), 'inventory');
    const none = { items: Buffer.alloc(0), isLast: true };
    expect(await Array.fromAsync(store.pages())).toEqual([none]);
    for (let petId = 1n; petId <= 20n; petId++) {
      const status = petId % 5n === 0n && petId < 20n ? 'sold' : 'available';
      await put(toInventoryRecord({ petId, quantity: 25, status }));
    }
    for (const each of orders) await putOrder(each);
  });

  it('a sample of the inventory is a list of one entry', async () => {
    const [page, ...others] = await Array.fromAsync(store.sample());
    expect([JSON.parse(`[${page?.items}]`), page?.isLast, others]).toEqual([
      [{ petId: expect.any(Number), quantity: 25, status: expect.any(String) }],
      ...[true, []],
    ]);
    expect(endpoint().requests).toMatchObject([{ input: { Limit: 1 } }]);
  });

  it('the inventory as a whole, of one status, skips all pages without that status except the last', async () => {
    endpoint().pageSize = 1;
    const pages = await Array.fromAsync(store.pages({ status: 'sold' }));
    expect(pages.slice(0, -1).every(({ items }) => items.length > 0)).toBe(true);
    expect(pages.map(({ isLast }) => isLast).indexOf(true)).toBe(pages.length - 1);
    const texts = pages.map(({ items }) => String(items)).filter(Boolean);
    expect(texts).toHaveLength(3);
    for (const text of texts) expect(text).toMatch(/"sold"}$/);
  });

  it('the inventory in a page requests only as many entries as fit, and stops when it is full', async () => {
    const { items, next } = await store.page({ limit: 7 });
    expect(items).toHaveLength(7);
    expect(endpoint().requests).toMatchObject([{ input: { Limit: 7 } }]);
    endpoint().pageSize = 3;
    const rest = await store.page({ limit: 13, cursor: next });
    expect(new Set([...items, ...rest.items].map(({ petId }) => petId)).size).toBe(20);
    expect(rest.next).toBeUndefined();
    await endpoint().heal();
    endpoint().pageSize = 3;
    expect((await store.page({ limit: 6 })).items).toHaveLength(6);
    expect(endpoint().requests).toHaveLength(2);
  });

  it('the inventory in a page of one status reads many entries at once, since the limit counts before the filter', async () => {
    expect((await store.page({ limit: 2, status: 'sold' })).items).toHaveLength(2);
    expect(endpoint().requests).toMatchObject([{ input: { Limit: 5_000 } }]);
  });

  const set = (petId: bigint, versions?: string[]) =>
    defineInventoryUpdates(client(), 'inventory').setQuantity({ petId, quantity: 3, versions });
  const adjust = (delta: number) =>
    defineInventoryAdjustments(client(), 'inventory', 'requests').adjust(
      [{ petId: 19n, delta }],
      `delta ${delta}`,
    );
  const again = { ConditionExpression: 'attribute_not_exists(p)' };

  it.each<[string, () => unknown, action: string, read: number, write?: number, failed?: number]>([
    ['a page of a small list', () => Array.fromAsync(store.pages()), 'Scan', 0.5],
    ['one entry', () => store.find([1n]), 'GetItem', 0.5],
    ['two entries', () => store.find([1n, 2n]), 'BatchGetItem', 1],
    ['one with its tag, consistently', () => store.find([1n], { withTags: true }), 'GetItem', 1],
    ['two with tags', () => store.find([1n, 2n], { withTags: true }), 'BatchGetItem', 2],
    ['an unknown key', () => defineKeyStore(client(), 'apiKeys').get('0123456789'), 'GetItem', 1],
    ['an update', () => set(19n), 'UpdateItem', 0, 1],
    ['a 412 with its consistent read', () => set(19n, ['x']), 'UpdateItem,GetItem', 1, 1, 1],
    ['a 404', () => set(21n), 'UpdateItem', 0, 1, 1],
    ['a failed conditional write', () => put({ p: { N: '19' } }, again), 'PutItem', 0, 1, 1],
    ['an invalid write', () => put({ p: { S: 'x' } }), 'PutItem', 0],
    // Two writes for each item of a transaction, whether it succeeds or not.
    ['a return', () => adjust(1), 'TransactWriteItems,GetItem', 1, 4],
    ['its replay', () => adjust(1), 'TransactWriteItems,GetItem', 1, 4, 1],
    ['a refusal, which is stored', () => adjust(-1_000), 'TransactWriteItems,PutItem', 0, 5, 1],
  ])('the request units of %s are counted', async (_, act, action, read, write = 0, failed = 0) => {
    const units = meterRequest();
    await Promise.resolve(act()).catch(() => {});
    expect(units).toEqual({ read, write, failedWrites: failed });
    expect([...endpoint().calls.keys()].join()).toBe(action);
  });

  it('a transaction that is in progress at every retry is an outage', async () => {
    onTestFinished(skipBackOff());
    endpoint().fail({ action: 'TransactWriteItems', fault: 'transactionInProgress' });
    await expect(adjust(1)).rejects.toMatchObject({ name: 'StoreUnavailable' });
  });

  it('orders are listed newest first, as stored, page by page', async () => {
    const store = defineOrderStore(defineDocuments(client()), 'orders');
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
          ? defineOrderStore(defineDocuments(client()), 'orders').page(request)
          : store.page(request);
      await expect(page).rejects.toMatchObject({ name: 'InvalidRequest' });
    },
  );

  it.each([
    [{}],
    [{ weight: { N: '4.5' }, born: { N: '1E+100' }, price: { N: `1.${'1'.repeat(37)}` } }],
    [{ x: { SS: ['a'] }, y: { NS: ['1.5'] }, z: { BS: [Uint8Array.of(1)] }, n: { NULL: true } }],
    [{ x: { B: Uint8Array.of(255) }, constructor: { S: 'x' }, toString: { N: '-0.25' } }],
    [{ x: nest(30) }],
  ] as Record<string, AttributeValue>[][])(
    'a pet and an order are as stored, in the contract’s order of members, beside %j',
    async (others = {}) => {
      await putPet(pet, others);
      expect(toJson(await readPet(pet.id))).toBe(toJson(pet));
      for (const each of orders) await putOrder(each, others);
      const { items } = await defineOrderStore(defineDocuments(client()), 'orders').page({
        limit: 10,
      });
      expect(items).toStrictEqual(orders);
    },
  );

  it('a member of a category or a tag that nobody declared does not matter', async () => {
    const named = (id: number) => ({
      M: { id: { N: `${id}` }, name: { S: 'x' }, rank: { N: '4.5' }, when: { NULL: true } },
    });
    await putPet(pet, { category: named(1), tags: { L: [named(2), named(3)] } } as never);
    const [category, ...tags] = [1n, 2n, 3n].map((id) => ({ id, name: 'x' }));
    const read = await readPet(pet.id);
    expect(read).toStrictEqual({ ...pet, category, tags });
  });

  it('a photo’s address is any stored text, also one that an import refuses', async () => {
    const photoUrls = ['data:image/png;base64,iVBORw0KGgo=', 'ftp://x', 'no address', ''];
    await putPet({ ...pet, photoUrls });
    expect((await readPet(pet.id)).photoUrls).toEqual(photoUrls);
  });

  const [newest = expect.fail('There is no order.')] = orders;
  const keys = {
    pet: `id ${pet.id}`,
    order: `ledger orders, placed ${toOrderRecord(newest).placed}`,
  };
  it.each<['pet' | 'order', Record<string, AttributeValue>, string]>([
    ['pet', { name: { N: '5' } }, 'name must be a string, and is 5.'],
    ['pet', { status: { S: 'lost' } }, 'status must be "available", "pending" or "sold", and is'],
    ['pet', { category: { S: 'Dogs' } }, 'category must be a map, and is "Dogs".'],
    ['pet', { category: { NULL: true } }, 'category must be a map, and is null.'],
    ['pet', { category: { L: [{ S: 'name' }] } }, 'category must be a map, and is ["name"].'],
    ['pet', { category: { M: { id: { N: '4.5' } } } }, 'category.id must be an integer from -92'],
    ['pet', { photoUrls: { SS: ['x'] } }, 'photoUrls must be a list, and is ["x"].'],
    ['pet', { photoUrls: { L: [{ N: '1' }] } }, 'photoUrls.0 must be a string, and is 1.'],
    ['pet', { tags: { L: [{ M: {} }] } }, 'tags.0.id is missing; it must be an integer from -92'],
    ['order', { id: { S: '7' } }, 'id must be an integer from -9223372036854775808 to 9223372036'],
    ['order', { petId: { N: '9223372036854775808' } }, 'petId must be an integer from -9223372036'],
    ['order', { quantity: { N: '0' } }, 'quantity must be an integer from 1 to 2147483647, and'],
    ['order', { quantity: { N: '0.99999999999999999999' } }, 'quantity must be an integer from 1'],
    [
      'order',
      { quantity: { N: '2147483648' } },
      'quantity must be an integer from 1 to 2147483647',
    ],
    ['order', { status: { S: 'sold' } }, 'status must be "placed", "approved" or "delivered", and'],
    ['order', { placedAt: { S: 'yesterday' } }, 'placedAt must be an RFC 3339 date-time, such as'],
    ['order', { shipDate: { S: '2026-11-05' } }, 'shipDate must be an RFC 3339 date-time, such as'],
    [
      'order',
      { shipDate: { S: '2026-13-05T00:00:00Z' } },
      'shipDate must be an RFC 3339 date-time',
    ],
    ['order', { complete: { N: '1' } }, 'complete must be true or false, and is 1.'],
  ])('of an invalid %s, the key and each invalid member are named: %j', async (...row) => {
    const [kind, invalid, problem] = row;
    const orderStore = defineOrderStore(defineDocuments(client()), 'orders');
    await (kind === 'pet' ? putPet(pet, invalid) : putOrder(newest, invalid));
    endpoint().calls.clear();
    const reading = kind === 'pet' ? readPet(pet.id) : orderStore.page({ limit: 10 });
    await expect(reading).rejects.toMatchObject({ name: 'Error' });
    await expect(reading).rejects.toThrow(`The record of ${keys[kind]} is not valid: ${problem}`);
    // It is not retried.
    expect([...endpoint().calls.values()]).toEqual([1]);
    await putOrder(newest);
  });

  it('a record with very many invalid members names some, and counts the others', async () => {
    await putPet(pet, { photoUrls: { L: Array(1_000).fill({ NULL: true }) } });
    await expect(readPet(pet.id)).rejects.toThrow(
      /photoUrls\.4 must be a string, and is null; and 995 more\.$/,
    );
  });

  it('a record without its members names each', async () => {
    const Item = { id: { N: '70' }, weight: { N: '4.5' } };
    await client().send(new PutItemCommand({ TableName: 'pets', Item }));
    await expect(readPet(70n)).rejects.toThrow(
      'The record of id 70 is not valid: name is missing; it must be a string; status is missing; it must be "available", "pending" or "sold".',
    );
  });
});

function nest(depth: number): AttributeValue {
  return depth === 0 ? { N: '4.5' } : { L: [{ M: { x: nest(depth - 2) } }] };
}

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
    return { batches, list: defineInventoryList(client, 't') };
  }

  it('are requested again, and nothing else', async () => {
    const { batches, list } = defineBusyTable((asked) => (asked > 30 ? 30 : 0));
    const found = await list.find(petIds);
    expect(found.map(({ petId }) => petId)).toEqual(petIds);
    expect(batches).toEqual([100, 30]);
  });

  it('are an outage if this goes on', async () => {
    const { batches, list } = defineBusyTable(() => 1);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    onTestFinished(vi.spyOn(Math, 'random').mockReturnValue(0.5).mockRestore);
    const start = Date.now();
    const cause = { message: 'DynamoDB left keys of a batch unprocessed.' };
    const refusal = expect(list.find(petIds)).rejects.toMatchObject({
      name: 'StoreUnavailable',
      cause,
    });
    await vi.runAllTimersAsync();
    await refusal;
    expect(batches).toEqual([100, 1, 1, 1, 1]);
    expect(Date.now() - start).toBe(25 + 50 + 100 + 200);
  });
});
