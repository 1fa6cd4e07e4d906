import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fate, startProxy } from '../../../support/faults/proxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import type { ConformanceTarget } from '../../target.ts';
import { type Shop, startShop } from './sellers.ts';

/** Each test sells its own two pets, so that all can run at once. A number would round the second. */
const pairs = Array.from({ length: 30 }, (_, index) => {
  return [BigInt(index), -(2n ** 53n) - BigInt(2 * index + 1)] as const;
});
const unsold = pairs.values();
const toPets = () => unsold.next().value ?? expect.fail('There are too few pets.');
const [onHold, missing] = [1_000n, 1_001n];
const inventory = [
  ...pairs.flat().map((petId) => ({ petId, quantity: 20, status: 'available' }) as const),
  { petId: onHold, quantity: 20, status: 'pending' } as const,
];

let target: ConformanceTarget;
/** The network between the shop and the service. */
let network: Awaited<ReturnType<typeof startProxy>>;
/** By their orders. */
const fates = new Map<string, Fate>();
/** The keys of an order's requests. */
const sent = new Map<string, string[]>();
const { toPath } = openTemporaryFolder();
const database = toPath('shop.db');
let shop: Shop;

beforeAll(async () => {
  target = await openLocalTarget({ data: { inventory, pets: [], orders: [] } });
  network = await startProxy(target.baseUrl, ({ headers }) => {
    const key = `${headers['idempotency-key']}`;
    const [, id = ''] = /^order-([\w-]+)/.exec(key) ?? [];
    sent.set(id, [...(sent.get(id) ?? []), key]);
    return fates.get(id) ?? 'passed';
  });
  shop = await startShop({ ...target, ...network }, database);
});
afterAll(async () => {
  await shop?.kill();
  network?.close();
  await target?.close();
});

/** The units that there are of each pet. */
const countLeft = (...petIds: readonly bigint[]) =>
  Promise.all(petIds.map(async (petId) => (await readEntry(target, petId)).quantity));

const units = (...lines: readonly (readonly [petId: bigint, count: unknown])[]) =>
  `{${lines.map(([petId, count]) => `"${petId}":${JSON.stringify(count)}`)}}`;
const isStep = (state: string, reason: unknown = null) =>
  expect.objectContaining({ state, reason });
const done = { status: 200, body: isStep('done') };
const open = { status: 202, body: isStep('open') };
const refused = (reason: string) => ({
  status: 409,
  body: isStep('refused', expect.stringContaining(reason)),
});
const mistake = (status: number, message: string) => ({
  status,
  body: { message: expect.stringContaining(message) },
});

it.concurrent('sells a cart, takes units back and cancels what is left, each once', async () => {
  const id = randomUUID();
  const [one, other] = toPets();
  const cart = units([one, 3], [other, 2]);
  for (const _ of [1, 2]) expect(await shop.call('PUT', `/${id}`, cart)).toEqual(done);
  expect(await countLeft(one, other)).toEqual([17, 18]);
  // Two equal returns are two; one that is sent again is one.
  for (const number of [1, 2, 2]) {
    expect(await shop.call('PUT', `/${id}/returns/${number}`, units([one, 1]))).toEqual(done);
  }
  expect(await countLeft(one, other)).toEqual([19, 18]);
  for (const _ of [1, 2]) expect(await shop.call('DELETE', `/${id}`)).toEqual(done);
  expect(await countLeft(one, other)).toEqual([20, 20]);
  expect(await shop.call('PUT', `/${id}`, cart)).toEqual(mistake(409, 'was cancelled'));
  expect(await shop.call('PUT', `/${id}/returns/3`, units([one, 1]))).toEqual(
    mistake(409, 'fewer units'),
  );
  expect(await countLeft(one, other)).toEqual([20, 20]);
  expect(sent.get(id)).toHaveLength(4);
  const { status, body } = await shop.call('GET', `/${id}`);
  expect([status, body]).toEqual([200, Array(4).fill(isStep('done'))]);
});

it.concurrent('sells an order once that is sent three times at once, with lines in any order and exact ids', async () => {
  const id = randomUUID();
  const [one, other] = toPets();
  const carts = [units([other, 1], [one, 2]), units([one, 2], [other, 1])];
  const outcomes = await Promise.all(
    [0, 1, 0].map((cart) => shop.call('PUT', `/${id}`, carts[cart])),
  );
  expect(outcomes).toEqual([done, done, done]);
  expect(sent.get(id)).toHaveLength(1);
  expect(await countLeft(one, other)).toEqual([18, 19]);
});

it.concurrent('does not take another cart or return under an id in use', async () => {
  const id = randomUUID();
  const [one, other] = toPets();
  await shop.call('PUT', `/${id}`, units([one, 2]));
  await shop.call('PUT', `/${id}/returns/1`, units([one, 1]));
  for (const path of [id, `${id}/returns/1`]) {
    for (const changed of [units([one, 3]), units([other, 2]), units([one, 2], [other, 1])]) {
      expect(await shop.call('PUT', `/${path}`, changed)).toEqual(mistake(409, 'use a new id'));
    }
  }
  expect(await countLeft(one, other)).toEqual([19, 20]);
});

it.concurrent('says which pet the service refused, and the same of the order later', async () => {
  const id = randomUUID();
  const [one, other] = toPets();
  const cart = units([one, 1], [onHold, 1]);
  const reason = `petId ${onHold} has status "pending"`;
  expect(await shop.call('PUT', `/${id}`, cart)).toEqual(refused(reason));
  expect(await shop.call('PUT', `/${id}`, cart)).toEqual(refused(reason));
  const nothing = mistake(409, 'Nothing was sold');
  expect(await shop.call('DELETE', `/${id}`)).toEqual(nothing);
  expect(await shop.call('PUT', `/${id}/returns/1`, units([one, 1]))).toEqual(
    mistake(409, 'fewer units'),
  );
  expect(await shop.call('PUT', `/${id}-2`, units([missing, 1]))).toEqual(
    refused('no inventory entry'),
  );
  expect(await countLeft(one, other)).toEqual([20, 20]);
});

const eleven = Array.from({ length: 11 }, (_, index) => [BigInt(index), 1] as const);
it.concurrent.each<[string, string, string]>([
  ['no pets', '{}', '1 to 10 pets with their units, such as {"7": 2, "9": 1}, not 0'],
  ['eleven pets', units(...eleven), 'not 11'],
  ['no JSON', '{"7":', 'not 0'],
  ['a list', '[2, 1]', 'not 0'],
  ['null', 'null', 'not 0'],
  ['units 0', '{"7": 1, "9": 0}', 'Pet 9 must have 1 to 2147483647 units, not 0'],
  ['half a unit', '{"7": 0.5}', 'not 0.5'],
  ['too many units', '{"7": 2147483648}', 'not 2147483648'],
  ['units in quotes', '{"7": "1"}', 'Pet 7 must have'],
  ['an id that is none', '{"__proto__": 1}', 'No pet has the id "__proto__"'],
  ['an id with zeros', '{"07": 1}', 'No pet has the id "07"'],
  ['an id past int64', '{"9223372036854775808": 1}', 'No pet has the id'],
])('says why it can never sell %s, and saves nothing', async (_, body, message) => {
  const id = randomUUID();
  expect(await shop.call('PUT', `/${id}`, body)).toEqual(mistake(400, message));
  expect(await shop.call('GET', `/${id}`)).toEqual(mistake(404, 'no such order'));
  expect(sent.has(id)).toBe(false);
});

it.concurrent('has only orders and their returns', async () => {
  for (const path of ['', '/a b', '/a/returns', '/a/returns/1/2', `/${'a'.repeat(65)}`]) {
    expect(await shop.call('PUT', path, '{"7": 1}')).toEqual(mistake(404, 'nothing'));
  }
  for (const [method, path] of [
    ['DELETE', '/missing'],
    ['GET', '/missing'],
    ['PUT', '/missing/returns/1'],
  ] as const) {
    const body = method === 'PUT' ? '{"7": 1}' : undefined;
    expect(await shop.call(method, path, body)).toEqual(mistake(404, 'no such order'));
  }
  expect(await shop.call('POST', '/a', '{"7": 1}')).toEqual(mistake(405, 'PUT'));
  expect(await shop.call('DELETE', '/a/returns/1')).toEqual(mistake(405, 'PUT'));
});

it.concurrent('takes back no more than was sold, and counts what may have come back', async () => {
  const id = randomUUID();
  const [one, other] = toPets();
  await shop.call('PUT', `/${id}`, units([one, 3]));
  const takeBack = (number: number, count: number) =>
    shop.call('PUT', `/${id}/returns/${number}`, units([one, count]));
  expect(await takeBack(1, 4)).toEqual(mistake(409, 'fewer units'));
  fates.set(id, 'responseLost');
  expect(await takeBack(2, 2)).toEqual(open);
  expect(await takeBack(3, 2)).toEqual(mistake(409, 'fewer units'));
  fates.delete(id);
  expect(await takeBack(2, 2)).toEqual(done);
  expect(await takeBack(4, 1)).toEqual(done);
  expect(await shop.call('DELETE', `/${id}`)).toEqual(mistake(409, 'all units came back'));
  expect(await countLeft(one, other)).toEqual([20, 20]);
});

// An earlier attempt may have taken effect, under a key that was valid then.
it.concurrent.each<[string, Fate]>([
  ['a page', { status: 200, body: '<html>' }],
  ['a foreign 404', { status: 404, body: '{"code":"not_found","message":"Gone"}' }],
  ['a 401', { status: 401, body: '{"code":"unauthorized","message":"Gone.","status":401}' }],
])('keeps a sale open after %s', async (_, fate) => {
  const id = randomUUID();
  const [one] = toPets();
  fates.set(id, fate);
  expect(await shop.call('PUT', `/${id}`, units([one, 1]))).toEqual(open);
  expect(shop.readErrors()).toContain(`order-${id} is open: `);
  fates.delete(id);
  expect(await shop.call('PUT', `/${id}`, units([one, 1]))).toEqual(done);
  expect(await countLeft(one)).toEqual([19]);
});

describe.concurrent.each<Fate>(['responseLost', 'lost'])('while each request is %s', (fate) => {
  it('keeps a sale open, and knows its outcome later', async () => {
    const id = randomUUID();
    const [one] = toPets();
    const cart = units([one, 20]);
    fates.set(id, fate);
    expect(await shop.call('PUT', `/${id}`, cart)).toEqual(open);
    fates.delete(id);
    await shop.call('PUT', `/${id}-2`, units([one, 1]));
    const isSold = fate === 'responseLost';
    const outcome = isSold ? done : refused(`petId ${one} has quantity 19`);
    expect(await shop.call('PUT', `/${id}`, cart)).toEqual(outcome);
    expect(await countLeft(one)).toEqual([isSold ? 0 : 19]);
  });

  it('cancels only after the sale, and puts back only what was sold', async () => {
    const [sold, notSold] = [randomUUID(), randomUUID()];
    const [one, other] = toPets();
    for (const id of [sold, notSold]) fates.set(id, fate);
    const sales = [
      shop.call('PUT', `/${sold}`, units([one, 2])),
      shop.call('PUT', `/${notSold}`, units([other, 21])),
    ];
    expect(await Promise.all(sales)).toEqual([open, open]);
    const cancellations = [sold, notSold].map((id) => shop.call('DELETE', `/${id}`));
    expect(await Promise.all(cancellations)).toEqual([open, open]);
    for (const id of [sold, notSold]) {
      expect(new Set(sent.get(id))).toEqual(new Set([`order-${id}`]));
      fates.delete(id);
    }
    expect(await shop.call('DELETE', `/${sold}`)).toEqual(done);
    expect(await shop.call('DELETE', `/${notSold}`)).toEqual(refused('Nothing was sold.'));
    expect(await countLeft(one, other)).toEqual([20, 20]);
    const states = (await shop.listSteps(notSold)).map(({ state }) => state);
    expect(states).toEqual(['refused', 'refused']);
  });
});

it.concurrent('settles sales, returns and cancellations after a kill, which were lost or took effect', async ({
  // Only its own `expect` can poll in a concurrent test.
  expect,
  onTestFinished,
}) => {
  const file = toPath('killed.db');
  const killed = await startShop({ ...target, ...network }, file);
  onTestFinished(killed.kill);
  const [sale, takeBack, cancellation] = [
    ['PUT', '', 3],
    ['PUT', '/returns/1', 1],
    ['DELETE', '', undefined],
  ] as const;
  const orders = (['lost', 'responseLost'] as const).flatMap((fate) =>
    [[sale], [sale, takeBack], [sale, cancellation]].map((steps) => {
      return { id: randomUUID(), petId: toPets()[1], steps, fate };
    }),
  );
  const call = (
    order: (typeof orders)[number],
    [method, path, count]: (typeof order.steps)[number],
  ) => killed.call(method, `/${order.id}${path}`, count && units([order.petId, count]));
  await Promise.all(
    orders.map(async (order) => {
      for (const step of order.steps.slice(0, -1)) expect(await call(order, step)).toEqual(done);
    }),
  );
  const settled = [17, 18, 20];
  const petIds = orders.map(({ petId }) => petId);
  const asking = orders.map((order) => {
    fates.set(order.id, order.fate);
    return call(order, order.steps.at(-1) ?? sale).catch(() => {});
  });
  const isSent = ({ id, steps }: (typeof orders)[number]) =>
    new Set(sent.get(id)).size === steps.length;
  await expect.poll(() => orders.every(isSent), { interval: 5 }).toBe(true);
  await expect.poll(() => countLeft(...petIds), { interval: 5 }).toEqual([20, 17, 17, ...settled]);
  await killed.kill();
  await Promise.all(asking);
  for (const { id } of orders) fates.delete(id);
  const again = await startShop({ ...target, ...network }, file);
  onTestFinished(again.kill);
  // Nobody asks for them.
  for (const { id, steps } of orders) {
    const listStates = async () => (await again.listSteps(id)).map(({ state }) => state);
    await expect.poll(listStates, { interval: 20 }).toEqual(steps.map(() => 'done'));
  }
  expect(await countLeft(...petIds)).toEqual([...settled, ...settled]);
});

it.concurrent('sends no step that is older than 29 days, and says so', async () => {
  const [old, young] = [randomUUID(), randomUUID()];
  const [one, other] = toPets();
  const sell = () =>
    Promise.all([
      shop.call('PUT', `/${old}`, units([one, 1])),
      shop.call('PUT', `/${young}`, units([other, 1])),
    ]);
  for (const id of [old, young]) fates.set(id, 'lost');
  expect(await sell()).toEqual([open, open]);
  const steps = new DatabaseSync(database, { timeout: 5_000 });
  const age = steps.prepare('UPDATE steps SET savedAt = savedAt - ? WHERE orderId = ?');
  const day = 24 * 60 * 60 * 1_000;
  age.run(29 * day, old);
  age.run(28.9 * day, young);
  steps.close();
  for (const id of [old, young]) {
    fates.delete(id);
    sent.delete(id);
  }
  expect(await sell()).toEqual([open, done]);
  expect(await shop.call('DELETE', `/${old}`)).toEqual(open);
  expect([sent.get(old), sent.get(young)]).toEqual([undefined, [`order-${young}`]]);
  expect(shop.readErrors()).toContain(`order-${old} is open, and too old`);
  expect(await countLeft(one, other)).toEqual([20, 19]);
});
