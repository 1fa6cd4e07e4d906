import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  createPetstoreClient,
  type PetstoreClient,
  PetstoreError,
} from '../../../shared/client/index.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { parseJson, toJson } from '../../../shared/contract/values.ts';
import { exactPetIds, fixtures } from '../fixtures.ts';
import { openLocalTarget } from '../localTarget.ts';
import { sendValid, suites } from '../operations/suites.ts';
import type { ConformanceTarget } from '../target.ts';

const { changeablePetId, missingPetId } = fixtures;
const inventory = [...fixtures.inventory].sort((a, b) => (a.petId < b.petId ? -1 : 1));

let target: ConformanceTarget;
let client: PetstoreClient;
beforeAll(async () => {
  target = await openLocalTarget();
  client = createPetstoreClient({ ...target, onDeprecation: () => {} });
});
afterAll(() => target?.close());

/** As the fixtures have them, whatever order the database has. */
const inOrder = <Entry extends { petId: bigint }>(entries: Entry[]) =>
  entries.sort((a, b) => (a.petId < b.petId ? -1 : 1));

it.each(operationIds)('the client gives what %s answers', async (id) => {
  const response = await sendValid(target, id);
  const answered = parseJson(response.text);
  const given = await suites[id].callClient(client, fixtures);
  expect(parseJson(toJson(given))).toMatchObject(answered as object);
});

describe('the client lists the inventory', () => {
  it('whole, ids exact to the ends of int64', async () => {
    const { items, next, etag } = await client.listInventory();
    expect(inOrder(items)).toEqual(inventory);
    expect(next).toBeUndefined();
    expect(etag).toMatch(/^W\/"/);
    expect(items.map(({ petId }) => petId)).toEqual(expect.arrayContaining([...exactPetIds]));
  });

  it('in pages', async () => {
    const pages = await Array.fromAsync(client.inventoryPages({ limit: 10 }));
    expect(pages.map(({ items }) => items.length)).toEqual([10, 10, 10, 10, 5]);
    expect(inOrder(pages.flatMap(({ items }) => items))).toEqual(inventory);
  });

  it('as a stream', async () => {
    expect(inOrder(await Array.fromAsync(client.streamInventory()))).toEqual(inventory);
  });

  it('of one status, with tags, in each of these ways', async () => {
    const query = { status: 'pending', include: 'etag' } as const;
    const wanted = inventory
      .filter(({ status }) => status === 'pending')
      .map((entry) => ({ ...entry, etag: expect.stringMatching(/^"[^"]+"$/) }));
    expect(inOrder((await client.listInventory(query)).items)).toEqual(wanted);
    const pages = await Array.fromAsync(client.inventoryPages({ ...query, limit: 4 }));
    expect(inOrder(pages.flatMap(({ items }) => items))).toEqual(wanted);
    expect(inOrder(await Array.fromAsync(client.streamInventory(query)))).toEqual(wanted);
  });

  it('by ids, in their order, without those that do not exist', async () => {
    const petIds = [...exactPetIds].reverse();
    const { items } = await client.listInventory({ petIds: [missingPetId, ...petIds] });
    expect(items.map(({ petId }) => petId)).toEqual(petIds);
  });

  it('not again while it is the same', async () => {
    const { etag } = await client.listInventory();
    expect(await client.listInventory({ ifNoneMatch: etag })).toBeUndefined();
    await client.updateStock(changeablePetId, ({ quantity }) => quantity + 1);
    expect((await client.listInventory({ ifNoneMatch: etag }))?.etag).not.toBe(etag);
  });
});

describe('the client updates', () => {
  it('a stock count, and gives the entry with its new tag', async () => {
    const first = await client.updateInventory(changeablePetId, { quantity: 8 });
    expect(first).toMatchObject({ petId: changeablePetId, quantity: 8 });
    const second = await client.updateInventory(
      changeablePetId,
      { quantity: 2_147_483_647 },
      { ifMatch: first.etag },
    );
    expect(second.quantity).toBe(2_147_483_647);
    const third = client.updateInventory(changeablePetId, { quantity: 1 }, { ifMatch: first.etag });
    await expect(third).rejects.toMatchObject({ code: 'precondition_failed', status: 412 });
    const query = { petIds: [changeablePetId], include: 'etag' } as const;
    expect((await client.listInventory(query)).items).toEqual([second]);
  });

  it('once for each idempotency key', async () => {
    const quantity = 5;
    const idempotencyKey = 'one-sale';
    const first = await client.updateInventory(changeablePetId, { quantity }, { idempotencyKey });
    await client.updateInventory(changeablePetId, { quantity: 6 });
    const again = await client.updateInventory(changeablePetId, { quantity }, { idempotencyKey });
    expect(again).toEqual(first);
    const { items } = await client.listInventory({ petIds: [changeablePetId] });
    expect(items[0]?.quantity).toBe(6);
  });
});

describe('the client reads', () => {
  it('a pet, every id in it exact, and warns of the operation’s end', async () => {
    const told = vi.fn();
    const warned = createPetstoreClient({ ...target, onDeprecation: told });
    for (const pet of fixtures.pets) expect(await warned.getPet(pet.id)).toEqual(pet);
    expect(told.mock.calls).toEqual([
      [
        {
          operationId: 'getPet',
          since: new Date('2026-12-01T00:00:00Z'),
          sunset: new Date('2027-12-01T00:00:00Z'),
          documentation: expect.stringMatching(/\/docs\/deprecations\.html#getPet$/),
        },
      ],
    ]);
  });

  it('orders, newest first, in pages', async () => {
    const { items } = await client.listOrders();
    expect(new Set(items)).toEqual(new Set(fixtures.orders));
    const pages = await Array.fromAsync(client.orderPages({ limit: 2 }));
    expect(pages.flatMap((page) => page.items)).toEqual(items);
    expect(pages).toHaveLength(4);
    const times = items.map(({ placedAt }) => Date.parse(placedAt));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });
});

describe('the client’s errors', () => {
  const reading = () =>
    createPetstoreClient({ ...target, apiKey: target.readOnlyApiKey, onDeprecation: () => {} });

  it.each<[string, number, () => Promise<unknown>]>([
    ['invalid_request', 400, () => client.listInventory({ limit: 0 })],
    ['invalid_request', 400, () => client.getPet(2n ** 63n)],
    ['unauthorized', 401, () => createPetstoreClient({ ...target, apiKey: 'x' }).listOrders()],
    ['forbidden', 403, () => reading().updateInventory(changeablePetId, { quantity: 1 })],
    ['not_found', 404, () => client.getPet(missingPetId)],
    ['not_found', 404, () => client.updateInventory(missingPetId, { quantity: 1 })],
  ])('say %s, %i and the request id', async (code, status, call) => {
    const error: PetstoreError = await call().then(
      () => expect.fail('It did not reject.'),
      (cause) => cause,
    );
    expect(error).toBeInstanceOf(PetstoreError);
    expect(error).toMatchObject({ code, status, requestId: expect.stringMatching(/^[\w-]{36}$/) });
    expect(error.message).toMatch(/\.$/);
  });

  it('say not_found where there is no stock to change', async () => {
    const change = vi.fn();
    const call = client.updateStock(missingPetId, change);
    await expect(call).rejects.toMatchObject({ code: 'not_found' });
    expect(change).not.toHaveBeenCalled();
  });
});
