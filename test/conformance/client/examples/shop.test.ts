import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fate, startProxy } from '../../../support/faults/proxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';
import { type Shop, startShop } from './sellers.ts';

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [onHold = 0n] = byStatus('pending');
/** A number would round the first. */
const [exact = 0n, one = 0n, other = 0n] = byStatus('available').filter(
  (petId) => petId > 0n || petId < -(2n ** 53n),
);

let target: ConformanceTarget;
/** The network between the shop and the service. */
let network: Awaited<ReturnType<typeof startProxy>>;
let decide: () => Fate | Promise<Fate>;
let sent: string[];
const database = openTemporaryFolder().toPath('shop.db');
let shop: Shop;

beforeAll(async () => {
  target = await openLocalTarget();
  network = await startProxy(target.baseUrl, ({ headers }) => {
    sent.push(`${headers['idempotency-key']}`);
    return decide();
  });
  await start();
});
afterAll(async () => {
  await shop?.kill();
  network?.close();
  await target?.close();
});

let tests = 0;
beforeEach(async () => {
  for (const petId of [exact, one, other]) await stock(petId, 20);
  decide = () => 'passed';
  sent = [];
  tests += 1;
});

async function start(apiKey = target.apiKey, baseUrl = network.baseUrl): Promise<void> {
  shop = await startShop({ baseUrl, apiKey }, database);
}

const stock = (petId: bigint, quantity: number) =>
  sendUpdate(target, petId, `{"quantity":${quantity}}`);
const quantityNow = async (petId: bigint) => (await readEntry(target, petId)).quantity;
const left = async () => [await quantityNow(one), await quantityNow(other)];

/** Of an order of this test alone. */
const toId = (name: string) => `${name}-${tests}`;
const pieces = (...lines: readonly (readonly [petId: bigint, count: unknown])[]) =>
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

it('sells a cart, takes pieces back and cancels what is left, each once', async () => {
  const id = toId('order');
  const cart = pieces([one, 3], [other, 2]);
  for (const _ of [1, 2]) expect(await shop.call('PUT', `/${id}`, cart)).toEqual(done);
  expect(await left()).toEqual([17, 18]);
  // Two equal returns are two; one that is sent again is one.
  for (const number of [1, 2, 2]) {
    expect(await shop.call('PUT', `/${id}/returns/${number}`, pieces([one, 1]))).toEqual(done);
  }
  expect(await left()).toEqual([19, 18]);
  for (const _ of [1, 2]) expect(await shop.call('DELETE', `/${id}`)).toEqual(done);
  expect(await left()).toEqual([20, 20]);
  expect(await shop.call('PUT', `/${id}`, cart)).toEqual(mistake(409, 'was cancelled'));
  expect(await shop.call('PUT', `/${id}/returns/3`, pieces([one, 1]))).toEqual(
    mistake(409, 'fewer pieces'),
  );
  expect(await left()).toEqual([20, 20]);
  expect(sent).toHaveLength(4);
  const { status, body } = await shop.call('GET', `/${id}`);
  expect([status, body]).toEqual([200, Array(4).fill(isStep('done'))]);
});

it('sells an order once that is sent three times at once, with lines in any order and exact ids', async () => {
  const id = toId('once');
  const carts = [pieces([exact, 1], [one, 2]), pieces([one, 2], [exact, 1])];
  const outcomes = await Promise.all(
    [0, 1, 0].map((cart) => shop.call('PUT', `/${id}`, carts[cart])),
  );
  expect(outcomes).toEqual([done, done, done]);
  expect(sent).toHaveLength(1);
  expect([await quantityNow(exact), await quantityNow(one)]).toEqual([19, 18]);
});

it('does not take another cart or return under an id in use', async () => {
  const id = toId('changed');
  await shop.call('PUT', `/${id}`, pieces([one, 2]));
  await shop.call('PUT', `/${id}/returns/1`, pieces([one, 1]));
  for (const path of [id, `${id}/returns/1`]) {
    for (const changed of [pieces([one, 3]), pieces([other, 2]), pieces([one, 2], [other, 1])]) {
      expect(await shop.call('PUT', `/${path}`, changed)).toEqual(mistake(409, 'use a new id'));
    }
  }
  expect(await left()).toEqual([19, 20]);
});

it('says which pet the service refused, and the same of the order later', async () => {
  const id = toId('refused');
  const cart = pieces([one, 1], [onHold, 1]);
  const reason = `petId ${onHold} has status "pending"`;
  expect(await shop.call('PUT', `/${id}`, cart)).toEqual(refused(reason));
  expect(await shop.call('PUT', `/${id}`, cart)).toEqual(refused(reason));
  const nothing = mistake(409, 'Nothing was sold');
  expect(await shop.call('DELETE', `/${id}`)).toEqual(nothing);
  expect(await shop.call('PUT', `/${id}/returns/1`, pieces([one, 1]))).toEqual(
    mistake(409, 'fewer pieces'),
  );
  const missing = pieces([target.fixtures.missingPetId, 1]);
  expect(await shop.call('PUT', `/${id}-2`, missing)).toEqual(refused('no inventory entry'));
  expect(await left()).toEqual([20, 20]);
});

const eleven = Array.from({ length: 11 }, (_, index) => [BigInt(index), 1] as const);
it.each<[string, string, string]>([
  ['no pets', '{}', '1 to 10 pets with their pieces, such as {"7": 2, "9": 1}, not 0'],
  ['eleven pets', pieces(...eleven), 'not 11'],
  ['no JSON', '{"7":', 'not 0'],
  ['a list', '[2, 1]', 'not 0'],
  ['null', 'null', 'not 0'],
  ['pieces 0', '{"7": 0}', 'Pet 7 must have 1 to 2147483647 pieces, not 0'],
  ['pieces -1', '{"7": 1, "9": -1}', 'Pet 9 must have 1 to 2147483647 pieces, not -1'],
  ['half a piece', '{"7": 0.5}', 'not 0.5'],
  ['too many pieces', '{"7": 2147483648}', 'not 2147483648'],
  ['pieces in quotes', '{"7": "1"}', 'Pet 7 must have'],
  ['pieces null', '{"7": null}', 'not null'],
  ['an id that is none', '{"x": 1}', 'No pet has the id "x"'],
  ['an empty id', '{"": 1}', 'No pet has the id ""'],
  ['an id with zeros', '{"07": 1}', 'No pet has the id "07"'],
  ['-0', '{"-0": 1}', 'No pet has the id "-0"'],
  ['an id past int64', '{"9223372036854775808": 1}', 'No pet has the id'],
  ['__proto__', '{"__proto__": 1}', 'No pet has the id "__proto__"'],
])('says why it can never sell %s, and saves nothing', async (_, body, message) => {
  const id = toId('never');
  expect(await shop.call('PUT', `/${id}`, body)).toEqual(mistake(400, message));
  expect(await shop.call('GET', `/${id}`)).toEqual(mistake(404, 'no such order'));
  expect(sent).toEqual([]);
});

it('has only orders and their returns', async () => {
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

it('takes back no more than was sold, and counts what may have come back', async () => {
  const id = toId('left');
  await shop.call('PUT', `/${id}`, pieces([one, 3]));
  const takeBack = (number: number, count: number) =>
    shop.call('PUT', `/${id}/returns/${number}`, pieces([one, count]));
  expect(await takeBack(1, 4)).toEqual(mistake(409, 'fewer pieces'));
  decide = () => 'responseLost';
  expect(await takeBack(2, 2)).toEqual(open);
  expect(await takeBack(3, 2)).toEqual(mistake(409, 'fewer pieces'));
  decide = () => 'passed';
  expect(await takeBack(2, 2)).toEqual(done);
  expect(await takeBack(4, 1)).toEqual(done);
  expect(await shop.call('DELETE', `/${id}`)).toEqual(mistake(409, 'all pieces came back'));
  expect(await left()).toEqual([20, 20]);
});

describe.each<Fate>(['responseLost', 'lost'])('while each request is %s', (fate) => {
  it('keeps a sale open, and knows its outcome later', async () => {
    const id = toId('unsure');
    const cart = pieces([one, 20]);
    decide = () => fate;
    expect(await shop.call('PUT', `/${id}`, cart)).toEqual(open);
    decide = () => 'passed';
    await shop.call('PUT', `/${id}-2`, pieces([one, 1]));
    const isSold = fate === 'responseLost';
    const outcome = isSold ? done : refused(`petId ${one} has quantity 19`);
    expect(await shop.call('PUT', `/${id}`, cart)).toEqual(outcome);
    expect(await quantityNow(one)).toBe(isSold ? 0 : 19);
  });

  it('cancels only after the sale, and puts back only what was sold', async () => {
    const [sold, unsold] = [toId('sold'), toId('unsold')];
    decide = () => fate;
    const sales = [
      shop.call('PUT', `/${sold}`, pieces([one, 2])),
      shop.call('PUT', `/${unsold}`, pieces([other, 21])),
    ];
    expect(await Promise.all(sales)).toEqual([open, open]);
    const cancellations = [sold, unsold].map((id) => shop.call('DELETE', `/${id}`));
    expect(await Promise.all(cancellations)).toEqual([open, open]);
    expect(sent).not.toContainEqual(expect.stringContaining('cancelled'));
    decide = () => 'passed';
    expect(await shop.call('DELETE', `/${sold}`)).toEqual(done);
    expect(await shop.call('DELETE', `/${unsold}`)).toEqual(refused('Nothing was sold.'));
    expect(await left()).toEqual([20, 20]);
    const states = (await shop.listSteps(unsold)).map(({ state }) => state);
    expect(states).toEqual(['refused', 'refused']);
  });
});

/** Waits until an order has no open step, without asking for one. */
async function expectSettled(id: string, states: readonly string[]): Promise<void> {
  const listStates = async () => (await shop.listSteps(id)).map(({ state }) => state);
  await expect.poll(listStates, { interval: 20 }).toEqual(states);
}

it.each<[string, Fate]>([
  ['between save and send', 'lost'],
  ['between response and record', 'responseLost'],
])('settles a sale, a return and a cancellation after a kill %s', async (_, fate) => {
  const id = toId('killed');
  const states: string[] = [];
  for (const [method, path, body] of [
    ['PUT', '', pieces([one, 3])],
    ['PUT', '/returns/1', pieces([one, 1])],
    ['DELETE', '', undefined],
  ] as const) {
    const seen = fate === 'lost' ? sent : network.responses;
    const before = seen.length;
    decide = () => fate;
    const asking = shop.call(method, `/${id}${path}`, body).catch(() => {});
    await expect.poll(() => seen.length, { interval: 1 }).toBeGreaterThan(before);
    await shop.kill();
    await asking;
    decide = () => 'passed';
    await start();
    await expectSettled(id, [...states, 'done']);
    states.push('done');
  }
  expect(await left()).toEqual([20, 20]);
});

it('keeps a step open after a response that is no outcome, and sends it again when it starts', async () => {
  const id = toId('mistaken');
  const cart = pieces([one, 1]);
  for (const [apiKey, address, why] of [
    [target.readOnlyApiKey, target.baseUrl, 'forbidden'],
    ['psk_wrong', target.baseUrl, 'unauthorized'],
    [target.apiKey, `${target.baseUrl}/v1`, 'invalid_response'],
    [target.apiKey, 'http://127.0.0.1:1/v1', 'connection_failed'],
  ] as const) {
    await shop.kill();
    await start(apiKey, address);
    expect(await shop.call('PUT', `/${id}`, cart)).toEqual(open);
    expect(await shop.kill()).toContain(`order-${id} is open: ${why}`);
  }
  await start();
  await expectSettled(id, ['done']);
  expect(await left()).toEqual([19, 20]);
});

it('sends no step that is older than 29 days, and says so', async () => {
  const [old, young] = [toId('old'), toId('young')];
  decide = () => 'lost';
  const sales = [old, young].map((id) => shop.call('PUT', `/${id}`, pieces([one, 1])));
  expect(await Promise.all(sales)).toEqual([open, open]);
  await shop.kill();
  const steps = new DatabaseSync(database);
  const age = steps.prepare('UPDATE steps SET savedAt = savedAt - ? WHERE orderId = ?');
  const day = 24 * 60 * 60 * 1_000;
  age.run(29 * day, old);
  age.run(28.9 * day, young);
  steps.close();
  decide = () => 'passed';
  sent = [];
  await start();
  await expectSettled(young, ['done']);
  expect(await shop.call('PUT', `/${old}`, pieces([one, 1]))).toEqual(open);
  expect(await shop.call('DELETE', `/${old}`)).toEqual(open);
  await expectSettled(old, ['open', 'open']);
  expect(sent).toEqual([`order-${young}`]);
  expect(await shop.kill()).toContain(`order-${old} is open, and too old`);
  expect(await left()).toEqual([19, 20]);
});
