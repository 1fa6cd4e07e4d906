import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Order, putBack, sellOrder } from '../../../../shared/client/examples/orders.ts';
import { createPetstoreClient, type PetstoreClient } from '../../../../shared/client/index.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';

const [one = 0n, other = 0n, soldOut = 0n] = fixtures.inventory
  .filter(({ status }) => status === 'available')
  .map(({ petId }) => petId);
const { missingPetId } = fixtures;

let target: ConformanceTarget;
beforeAll(async () => {
  target = await openLocalTarget();
});
afterAll(() => target?.close());

const stock = (petId: bigint, quantity: number) =>
  sendUpdate(target, petId, `{"quantity":${quantity}}`);

/** The shop ends: neither its program nor its database does anything more. */
class Crash extends Error {}

/**
 * Runs an order in a shop that crashes before or after one of its steps: a request, its response, or a write to its
 * database. Then runs it again, from what the database has.
 * @param crashAt the step, counted from 1
 */
async function run(order: Order, crashAt: number) {
  let steps = 0;
  let saved = structuredClone(order);
  function step(): void {
    steps += 1;
    if (steps === crashAt) throw new Crash();
  }
  const { baseUrl, apiKey } = target;
  const client: PetstoreClient = createPetstoreClient({
    baseUrl,
    apiKey,
    maxRetries: 0,
    async fetch(url, init) {
      step();
      const response = await fetch(url, init);
      step();
      return response;
    },
  });
  const save = (current: Order) => {
    step();
    saved = structuredClone(current);
    step();
  };
  try {
    return { isSold: await sellOrder(client, order, save), saved, isCrashed: false };
  } catch {
    // Meanwhile, a piece arrives.
    await stock(soldOut, 1);
    return { isSold: await sellOrder(client, saved, save), saved, isCrashed: true };
  }
}

it.each([
  ['sells one piece of each pet', [one, other], [true]],
  ['sells all or nothing if one pet is sold out', [one, soldOut, other], [true, false]],
  ['sells nothing if one pet is unknown', [one, missingPetId], [false]],
])('%s, wherever the shop crashes', async (name, petIds, outcomes) => {
  const { baseUrl, apiKey } = target;
  const client = createPetstoreClient({ baseUrl, apiKey });
  const seen = new Set<boolean>();
  let isCrashed = true;
  let crashAt = 0;
  for (; isCrashed; crashAt += 1) {
    await stock(one, 5);
    // The last piece: after its sale, the pet is not for sale.
    await stock(other, 1);
    await stock(soldOut, 0);
    const order = { id: `${name}-${crashAt}`.replaceAll(' ', '-'), lines: petIds.map(toLine) };
    const ran = await run(order, crashAt + 1);
    isCrashed = ran.isCrashed;
    seen.add(ran.isSold);
    const sold = ran.saved.lines.flatMap(({ petId, isSold }) => (isSold ? [petId] : []));
    expect(sold, `step ${crashAt}`).toEqual(ran.isSold ? petIds : []);
    const { items } = await client.listInventory({ petIds: [one, other, soldOut] });
    const left = items.map(({ petId, quantity }) => quantity + (sold.includes(petId) ? 1 : 0));
    expect(left, `step ${crashAt}`).toEqual([5, 1, isCrashed ? 1 : 0]);
  }
  expect(crashAt).toBeGreaterThan(8);
  expect([...seen]).toEqual(outcomes);
});

const toLine = (petId: bigint) => ({ petId });

it('sells the last piece to another order if the update of the first did not arrive', async () => {
  await stock(other, 1);
  const { baseUrl, apiKey } = target;
  const cut = createPetstoreClient({
    baseUrl,
    apiKey,
    maxRetries: 0,
    fetch: (url, init) =>
      init.method === 'PATCH' ? Promise.reject(new Crash()) : fetch(url, init),
  });
  const client = createPetstoreClient({ baseUrl, apiKey });
  const first: Order = { id: 'first', lines: [{ petId: other }] };
  await expect(sellOrder(cut, first, () => {})).rejects.toThrow();
  const second = { id: 'second', lines: [{ petId: other }] };
  expect(await sellOrder(client, second, () => {})).toBe(true);
  expect(await sellOrder(client, first, () => {})).toBe(false);
});

it('puts a returned piece back once', async () => {
  await stock(one, 5);
  const { baseUrl, apiKey } = target;
  const client = createPetstoreClient({ baseUrl, apiKey });
  for (const _ of [1, 2]) await putBack(client, one, 'return-1');
  expect((await client.getInventoryEntry(one)).quantity).toBe(6);
});
