import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientOptions, createPetstoreClient } from '../../../../shared/client/index.ts';
import { defineKeyRegister } from '../../../../shared/keys/keyRegister.ts';
import { readVariable } from '../../../../shared/runtime/environment.ts';
import { startLossyProxy, startProxy } from '../../../support/faults/proxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';
import { installed, runSeller, type Seller } from './sellers.ts';

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [pending = 0n] = byStatus('pending');
/** Each test that sells has its own pets. */
const [soldOut = 0n, ...available] = byStatus('available');

let target: ConformanceTarget;
const { folder } = openTemporaryFolder();
beforeAll(async () => {
  target = await openLocalTarget();
  await stock(pending, 3);
  await stock(soldOut, 0);
});
afterAll(() => target?.close());

const stock = (petId: bigint, quantity: number) =>
  sendUpdate(target, petId, `{"quantity":${quantity}}`);
const openClient = (options: Partial<ClientOptions> = {}) =>
  createPetstoreClient({ baseUrl: target.baseUrl, apiKey: target.apiKey, ...options });
const quantityNow = async (petId: bigint) => (await readEntry(target, petId)).quantity;

const run = (file: Seller, words: readonly unknown[], changes?: object, signal?: AbortSignal) =>
  runSeller(target, file, words, changes, signal);

describe.each(installed)('%s', (file) => {
  const [one = 0n, other = 0n] = available.splice(0, 2);

  it('sells and returns once for each key, with lines of one pet added up', async () => {
    for (const petId of [one, other]) await stock(petId, 9);
    const sell = () => run(file, [`${file}-1`, `${one}:-1`, `${other}:-2`, `${one}:-3`]);
    const [first, again] = [await sell(), await sell()];
    for (const output of [first, again]) {
      expect(output).toContain(`{"petId":${one},"quantity":5`.replace(/(?<=[:,])/g, spaceOf(file)));
    }
    await run(file, [`${file}-return`, `${one}:1`]);
    expect([await quantityNow(one), await quantityNow(other)]).toEqual([6, 7]);
  });

  it('sends the same request again after a 503, and sells once', async () => {
    await stock(one, 5);
    const requests: unknown[] = [];
    const proxy = await startProxy(target.baseUrl, ({ headers }) => {
      requests.push(headers['idempotency-key']);
      return requests.length === 1 ? 'busy' : 'passed';
    });
    await run(file, [`${file}-busy`, `${one}:-1`], { BASE_ADDRESS: proxy.baseUrl });
    proxy.close();
    expect(requests).toEqual(Array(2).fill(`${file}-busy`));
    expect(await quantityNow(one)).toBe(4);
  });

  it.each<[string, () => unknown[], number, RegExp]>([
    ['a pet on hold', () => [`${pending}:-1`], 1, /status \W*"pending\W*" and quantity 3/],
    ['a pet that is sold out', () => [`${soldOut}:-1`], 1, /has quantity 0 \(asked for: 1\)/],
    ['a cart with one of them', () => [`${other}:-1`, `${soldOut}:-1`], 1, /has quantity 0/],
    ['an unknown pet', () => [`${target.fixtures.missingPetId}:-1`], 1, /no inventory entry/],
    ['no pieces', () => [`${other}:0`], 2, /but not 0/],
    ['other words', () => [`${other}:-1`, 'x'], 2, /such as 7:-1/],
  ])('changes nothing with %s, and says why', async (name, toWords, code, stderr) => {
    const before = await quantityNow(other);
    const failure = { code, stdout: '', stderr: expect.stringMatching(stderr) };
    const key = `${file}-${name.replaceAll(' ', '-')}`;
    await expect(run(file, [key, ...toWords()])).rejects.toMatchObject(failure);
    expect(await quantityNow(other)).toBe(before);
  });

  it('has no outcome if the key is not valid or has another cart', async () => {
    const wrong = run(file, [`${file}-2`, `${other}:-1`], { API_KEY: 'psk_wrong' });
    await expect(wrong).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not valid/),
    });
    const edited = run(file, [`${file}-1`, `${one}:-1`]);
    await expect(edited).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/another adjustment/),
    });
  });
});

/** Python's JSON has spaces. */
const spaceOf = (file: Seller) => (file === 'sell.py' ? ' ' : '');

describe('twenty shops', () => {
  const pets = available.slice(0, 5);
  const START = 1_000;

  it('that are killed, rotate keys, lose a tenth of the responses and get each order up to three times sell, take back and cancel exactly', async () => {
    for (const petId of pets) await stock(petId, START);
    const lossy = await startLossyProxy(target.baseUrl);
    const database = new DynamoDBClient();
    const register = defineKeyRegister(database, readVariable('API_KEYS_TABLE'));
    let key = await register.create({ name: 'shops', permission: 'write' });
    const petstore = createPetstoreClient({
      baseUrl: lossy.baseUrl,
      apiKey: () => key.apiKey,
      maxRetries: 9,
    });
    let replays = 0;
    type Lines = readonly (readonly [petId: bigint, delta: number])[];
    type Adjust = (id: string, lines: Lines, signal?: AbortSignal) => Promise<unknown>;
    const kinds: Adjust[] = [
      async (idempotencyKey, lines, signal) => {
        const deltas = new Map<bigint, number>();
        for (const [petId, delta] of lines) deltas.set(petId, (deltas.get(petId) ?? 0) + delta);
        const adjustments = [...deltas].map(([petId, delta]) => ({ petId, delta }));
        const options = { idempotencyKey, signal };
        const { isReplay } = await petstore.adjustInventory(adjustments, options);
        replays += isReplay ? 1 : 0;
      },
      ...installed.map((file) => async (id: string, lines: Lines, signal?: AbortSignal) => {
        const env = { BASE_ADDRESS: lossy.baseUrl, API_KEY: key.apiKey, TMPDIR: folder };
        await run(file, [id, ...lines.map((line) => line.join(':'))], env, signal);
      }),
    ];

    const left = new Map(pets.map((petId) => [petId, START]));
    const expectLeft = (lines: Lines) => {
      for (const [petId, delta] of lines) left.set(petId, (left.get(petId) ?? 0) + delta);
    };

    const shops = Array.from({ length: 20 }, async (_, index) => {
      const adjust = kinds[index % kinds.length] as Adjust;
      /** Delivers a step one to three times. The shop is killed in a delivery before the last. */
      async function deliver(id: string, lines: Lines): Promise<void> {
        for (let more = Math.floor(index / kinds.length) % 3; more >= 0; more -= 1) {
          const kill = more > 0 ? AbortSignal.timeout(randomInt(1, 300)) : undefined;
          // In another order each time.
          const order = lines.map((_, place) => lines[(place + more) % lines.length] ?? lines[0]);
          const delivering = adjust(id, order as Lines, kill);
          await delivering.catch((error) => expect(kill?.aborted, String(error)).toBe(true));
        }
      }
      // One to five lines; from two on, the last has the same pet as the first.
      const count = 1 + (index % 5);
      const places = Array.from({ length: count }, (_, line) =>
        line > 0 && line === count - 1 ? 0 : line,
      );
      const cart = places.map((place, line) => [pets[place] ?? 0n, -1 - line] as const);
      expectLeft(cart);
      await deliver(`order-${index}`, cart);
      const [petId] = cart[0] ?? [0n];
      if (index % 2 === 0) {
        // Two equal returns of one order.
        for (const number of count > 1 ? [1, 2] : [1]) {
          expectLeft([[petId, 1]]);
          await deliver(`return-${index}-${number}`, [[petId, 1]]);
        }
      } else if (index % 3 === 0) {
        const back = cart.map(([petId, delta]) => [petId, -delta] as const);
        expectLeft(back);
        await deliver(`cancellation-${index}`, back);
      }
    });
    const selling = Promise.all(shops);
    for (let isOver = false; !isOver; ) {
      const next = await register.succeed(key.record);
      await register.retire(key.record.keyId, next.record.keyId, 60_000);
      key = next;
      isOver = await Promise.race([selling.then(() => true), setTimeout(200, false)]);
    }
    database.destroy();
    lossy.close();
    const now = await Promise.all(pets.map(quantityNow));
    expect(now).toEqual([...left.values()]);
    expect(replays).toBeGreaterThan(0);
    expect(lossy.lost()).toBeGreaterThan(5);
  });

  it('sell each last piece to one order, and a refused order again under its next attempt', async () => {
    const [petId = 0n, other = 0n] = pets;
    for (const id of [petId, other]) await stock(id, 5);
    const client = openClient();
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        client
          .adjustInventory(
            [
              { petId, delta: -1 },
              { petId: other, delta: -1 },
            ],
            {
              idempotencyKey: `last-${index}`,
            },
          )
          .then(
            () => 'sold',
            ({ code, effect }) => `${code} ${effect}`,
          ),
      ),
    );
    const refused = 'insufficient_stock none';
    expect(outcomes.sort()).toEqual([...Array(15).fill(refused), ...Array(5).fill('sold')]);
    expect([await quantityNow(petId), await quantityNow(other)]).toEqual([0, 0]);
    const attempt = (key: string) =>
      client.adjustInventory([{ petId, delta: -1 }], { idempotencyKey: key });
    await expect(attempt('again')).rejects.toMatchObject({ code: 'insufficient_stock' });
    await stock(petId, 2);
    await expect(attempt('again')).rejects.toMatchObject({ code: 'insufficient_stock' });
    expect(await attempt('again/2')).toMatchObject({ isReplay: false });
    expect(await attempt('again/2')).toMatchObject({ isReplay: true });
    expect(await quantityNow(petId)).toBe(1);
  });
});
