import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createPetstoreClient,
  type PetstoreClient,
  PetstoreError,
} from '../../../shared/client/index.ts';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { openLocalTarget } from '../localTarget.ts';
import { sendValid, suites } from '../operations/suites.ts';
import { type ConformanceTarget, exactPetIds, fixtures } from '../target.ts';

const { changeablePetId, missingPetId } = fixtures;

let target: ConformanceTarget;
let client: PetstoreClient;
beforeAll(async () => {
  target = await openLocalTarget();
  const { baseUrl, apiKey } = target;
  client = createPetstoreClient({ baseUrl, apiKey, onDeprecation: () => {} });
});
afterAll(() => target?.close());

it.each(operationIds)('the client returns the response of %s', async (id) => {
  const response = await sendValid(target, id);
  const received = parseJson(response.text);
  const given = await suites[id].callClient(client, fixtures);
  expect(parseJson(toJson(given))).toMatchObject(received as object);
});

describe('the client lists the inventory', () => {
  // The operations above have changed it.
  beforeAll(async () => {
    const { quantity = 0 } =
      fixtures.inventory.find(({ petId }) => petId === changeablePetId) ?? {};
    await client.updateInventory(changeablePetId, { quantity });
  });

  it.each([{}, { status: 'pending', include: 'etag' }] as const)(
    'whole and in pages: %o',
    async (query) => {
      const { items } = await client.listInventory(query);
      const pages = await Array.fromAsync(client.inventoryPages({ ...query, limit: 4 }));
      expect(pages.flatMap((page) => page.items)).toEqual(items);
      const tagged = 'include' in query && { etag: expect.stringMatching(/^"[^"]+"$/) };
      const expected = fixtures.inventory.filter(
        ({ status }) => !('status' in query) || status === query.status,
      );
      expect(new Set(items)).toEqual(new Set(expected.map((entry) => ({ ...entry, ...tagged }))));
    },
  );

  it('by ids, in their order, without unknown ones', async () => {
    const petIds = [...exactPetIds].reverse();
    const { items } = await client.listInventory({ petIds: [missingPetId, ...petIds] });
    expect(items.map(({ petId }) => petId)).toEqual(petIds);
  });

  it('only once while it does not change', async () => {
    const { etag } = await client.listInventory();
    expect(await client.listInventory({ ifNoneMatch: etag })).toBeUndefined();
    await client.updateInventory(changeablePetId, { quantity: 5 });
    expect((await client.listInventory({ ifNoneMatch: etag }))?.etag).not.toBe(etag);
  });
});

it('the client updates by If-Match', async () => {
  const { etag } = await client.updateInventory(changeablePetId, { quantity: 8 });
  const options = { ifMatch: etag };
  const updated = await client.updateInventory(changeablePetId, { quantity: 7 }, options);
  expect(updated).toMatchObject({ petId: changeablePetId, quantity: 7 });
  const other = client.updateInventory(changeablePetId, { quantity: 6 }, options);
  const refusal = { code: 'precondition_failed', effect: 'none', attempts: 1 };
  await expect(other).rejects.toMatchObject(refusal);
  const query = { petIds: [changeablePetId], include: 'etag' } as const;
  expect((await client.listInventory(query)).items).toEqual([updated]);
});

it('the client sells once for each key, and says which pets refused a sale', async () => {
  const { petId = 0n } = fixtures.inventory.find(({ status }) => status === 'available') ?? {};
  await client.updateInventory(petId, { quantity: 8 });
  const sell = (delta: number, idempotencyKey: string) =>
    client.adjustInventory([{ petId, delta }], { idempotencyKey });
  const sold = { entries: [{ petId, quantity: 5 }] };
  expect([await sell(-3, 'order-1'), await sell(-3, 'order-1')]).toMatchObject([sold, sold]);
  const reused = { code: 'idempotency_key_reused', effect: 'unknown', attempts: 1 };
  await expect(sell(-9, 'order-1')).rejects.toMatchObject(reused);
  const refused = [{ petId, code: 'insufficient_stock', quantity: 5 }];
  const refusal = { code: 'insufficient_stock', effect: 'none', refused };
  await expect(sell(-9, 'order-4')).rejects.toMatchObject(refusal);
  await sell(9, 'return-4');
  // The outcome of the key.
  await expect(sell(-9, 'order-4')).rejects.toMatchObject(refusal);
});

it('the client reads an entry only once while it does not change', async () => {
  const { etag } = await client.getInventoryEntry(changeablePetId);
  const readNewer = () => client.getInventoryEntry(changeablePetId, { ifNoneMatch: etag });
  expect(await readNewer()).toBeUndefined();
  const { entries } = await client.adjustInventory([{ petId: changeablePetId, delta: 1 }], {
    idempotencyKey: 'order-2',
  });
  expect([await readNewer()]).toMatchObject(entries);
});

it('the client reads the orders in pages, newest first', async () => {
  const pages = await Array.fromAsync(client.orderPages({ limit: 2 }));
  expect(pages).toHaveLength(4);
  const { items } = await client.listOrders();
  expect(pages.flatMap((page) => page.items)).toEqual(items);
});

it.each<[string, number, () => Promise<unknown>]>([
  ['invalid_request', 400, () => client.listInventory({ limit: 0 })],
  ['not_found', 404, () => client.getInventoryEntry(missingPetId)],
])('the client’s errors have %s, %i and the request id', async (code, status, call) => {
  const error = (await call().catch((cause) => cause)) as PetstoreError;
  expect(error).toBeInstanceOf(PetstoreError);
  expect(error).toMatchObject({ code, status, requestId: expect.stringMatching(/^[\w-]{36}$/) });
  expect(error.message).toMatch(/\.$/);
});

it.each(['/v1', '/inventory/v1'])(
  'under the wrong base URL …/v1%s, the client does not say that an entry does not exist',
  async (more) => {
    const { baseUrl, apiKey } = target;
    const lost = createPetstoreClient({ baseUrl: baseUrl + more, apiKey });
    const sale = [{ petId: 7n, delta: -1 }];
    for (const call of [
      () => lost.getInventoryEntry(7n),
      () => lost.adjustInventory(sale, { idempotencyKey: 'order-3' }),
    ]) {
      const failure = { code: 'invalid_response', status: 404, effect: 'none' };
      await expect(call()).rejects.toMatchObject(failure);
    }
  },
);
