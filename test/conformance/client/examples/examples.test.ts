import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPetstoreClient } from '../../../../shared/client/index.ts';
import { UNKNOWN_PATH } from '../../../../shared/contract/errorBody.ts';
import { defineKeyRegister } from '../../../../shared/keys/keyRegister.ts';
import { readVariable } from '../../../../shared/runtime/environment.ts';
import { startLossyProxy } from '../../../support/faults/proxy.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, sendUpdate } from '../../target.ts';
import { DONE, installed, REFUSED, type RunOptions, runSeller, WRONG } from './sellers.ts';

/** Each test that sells has its own pets, so that all can run at once. */
const available = Array.from({ length: 30 }, (_, index) => BigInt(index));
const unsold = available.values();
const toPet = () => unsold.next().value ?? expect.fail('There are too few pets.');
const QUANTITY = 100;
const [untouched, pending, soldOut, missing] = [100n, 101n, 102n, 103n];

let target: ConformanceTarget;
beforeAll(async () => {
  const toEntry = (petId: bigint) => ({ petId, quantity: QUANTITY, status: 'available' }) as const;
  const inventory = [
    ...[...available, untouched].map(toEntry),
    { ...toEntry(pending), status: 'pending' as const },
    { ...toEntry(soldOut), quantity: 0 },
  ];
  target = await openLocalTarget({ data: { inventory, pets: [], orders: [] } });
});
afterAll(() => target?.close());

const quantityNow = async (petId: bigint) => (await readEntry(target, petId)).quantity;

describe.concurrent.each(installed)('%s', (file) => {
  const run = (words: readonly unknown[], options?: RunOptions) =>
    runSeller(target, file, words, options);

  it('sells and returns once for each key', async () => {
    const [one, other] = [toPet(), toPet()];
    const lines = [`${one}:-4`, `${other}:-2`];
    for (const words of [lines, lines.toReversed()]) {
      const { code, stdout } = await run([`${file}-1`, ...words]);
      expect(code).toBe(DONE);
      expect(stdout.replaceAll(' ', '')).toContain(`{"petId":${one},"quantity":${QUANTITY - 4}`);
    }
    expect((await run([`${file}-return`, `${one}:1`])).code).toBe(DONE);
    expect([await quantityNow(one), await quantityNow(other)]).toEqual([
      QUANTITY - 3,
      QUANTITY - 2,
    ]);
    const { code, stderr } = await run([`${file}-1`, `${one}:-1`]);
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining('another adjustment')]);
  });

  const most = 2n ** 31n - 1n;
  it.each<[string, unknown[], number, RegExp]>([
    ['a pet on hold', [`${pending}:-1`], REFUSED, /status \W*"pending\W*" and quantity 100/],
    ['a pet that is sold out', [`${soldOut}:-1`], REFUSED, /has quantity 0 \(asked for: 1\)/],
    ['too many pieces back', [`${untouched}:${most}`], REFUSED, /quantity/],
    ['an unknown pet', [`${missing}:-1`], REFUSED, /no inventory entry/],
    ['a pet twice', [`${untouched}:-1`, `${untouched}:-1`], WRONG, /twice: add its deltas/],
    ['other words', [`${untouched}:-1`, 'x'], WRONG, /such as 7:-1, not.*x/],
    ['zeros', [`0${untouched}:-1`], WRONG, /such as 7:-1/],
    ['no pets', [], WRONG, /such as 7:-1/],
  ])('changes nothing with %s, and says why', async (name, words, code, stderr) => {
    expect(await run([`${file}-${name.replaceAll(' ', '-')}`, ...words])).toEqual({
      code,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
    expect(await quantityNow(untouched)).toBe(QUANTITY);
  });

  it.each(['', 'örder-1', 'order-1\nX-Other: 1', 'x'.repeat(256)])(
    'says that no header can carry the id %j',
    async (key) => {
      const { code, stderr } = await run([key, `${untouched}:-1`]);
      expect([code, stderr]).toEqual([WRONG, expect.stringContaining('1 to 255 visible ASCII')]);
    },
  );

  it.each(['', '/v1\u00e9/v1'])('does not call an address that ends in %j', async (path) => {
    const variables = { BASE_ADDRESS: target.baseUrl.replace('/v1', path) };
    const { code, stderr } = await run([`${file}-address`, `${untouched}:-1`], { variables });
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining('BASE_ADDRESS')]);
  });

  it('takes an address where nothing is for no refusal', async () => {
    const variables = { BASE_ADDRESS: `${target.baseUrl}/v1` };
    const { code, stderr } = await run([`${file}-address`, `${untouched}:-1`], { variables });
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining(UNKNOWN_PATH)]);
  });

  it.each(['KEY\n', '\ufeffKEY\r\n'])('takes a key from a file: %j', async (content) => {
    const petId = toPet();
    const variables = { API_KEY: content.replace('KEY', target.apiKey) };
    const words = [`${file}-${encodeURI(content)}`, `${petId}:-1`];
    const { code, stderr } = await run(words, { variables });
    expect([code, stderr]).toEqual([DONE, '']);
    expect(await quantityNow(petId)).toBe(QUANTITY - 1);
  });

  it.each(['', 'KEY\nKEY'])('names an invalid key, but does not print it: %j', async (content) => {
    const API_KEY = content.replaceAll('KEY', target.apiKey);
    const { code, stdout, stderr } = await run(['a', `${untouched}:-1`], {
      variables: { API_KEY },
    });
    expect([code, stdout, stderr]).toEqual([WRONG, '', expect.stringContaining('API_KEY')]);
    expect(stderr).not.toContain('psk_');
  });

  it.each([
    ['is not valid', () => 'psk_wrong', 'not valid'],
    ['may only read', () => target.readOnlyApiKey, 'write permission'],
  ])('says what to correct if the key %s', async (_, toApiKey, message) => {
    const variables = { API_KEY: toApiKey() };
    const { code, stderr } = await run([`${file}-2`, `${untouched}:-1`], { variables });
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining(message)]);
  });

  it.runIf(existsSync('/dev/full'))('has its status also if its output is lost', async () => {
    const sale = [`${file}-full`, `${toPet()}:-1`];
    const cases = [
      [sale, '>/dev/full', DONE],
      [sale, '>&-', DONE],
      [[`${file}-full-2`, `${soldOut}:-1`], '2>/dev/full', REFUSED],
    ] as const;
    for (const [words, redirection, code] of cases) {
      expect((await run(words, { redirection })).code, redirection).toBe(code);
    }
  });
});

describe('ten shops', () => {
  const pets = Array.from({ length: 5 }, toPet);

  it('that are killed, rotate keys, lose a tenth of the responses and get each order up to three times sell, take back and cancel exactly', async () => {
    const lossy = await startLossyProxy(target.baseUrl);
    const database = new DynamoDBClient();
    const register = defineKeyRegister(database, readVariable('API_KEYS_TABLE'));
    let key = await register.create({ name: 'shops', permission: 'write' });
    const petstore = createPetstoreClient({
      baseUrl: lossy.baseUrl,
      apiKey: () => key.apiKey,
      maxRetries: 9,
    });
    type Lines = readonly (readonly [petId: bigint, delta: number])[];
    type Adjust = (id: string, lines: Lines, signal?: AbortSignal) => Promise<unknown>;
    const kinds: Adjust[] = [
      (idempotencyKey, lines, signal) =>
        petstore.adjustInventory(
          lines.map(([petId, delta]) => ({ petId, delta })),
          { idempotencyKey, signal },
        ),
      ...installed.map((file) => async (id: string, lines: Lines, signal?: AbortSignal) => {
        const variables = { BASE_ADDRESS: lossy.baseUrl, API_KEY: key.apiKey };
        const words = [id, ...lines.map((line) => line.join(':'))];
        const { code, stderr } = await runSeller(target, file, words, { variables, signal });
        if (code !== DONE) throw new Error(`${code}: ${stderr}`);
      }),
    ];

    const left = new Map(pets.map((petId) => [petId, QUANTITY]));
    const expectLeft = (lines: Lines) => {
      for (const [petId, delta] of lines) left.set(petId, (left.get(petId) ?? 0) + delta);
    };

    const shops = Array.from({ length: 10 }, async (_, index) => {
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
      // One to five pets.
      const count = 1 + (index % 5);
      const cart = pets.slice(0, count).map((petId, line) => [petId, -1 - line] as const);
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
    expect(lossy.lost()).toBeGreaterThan(2);
  });

  it('sell each last piece to one order, and a refused order again under its next attempt', async () => {
    const [petId, other] = [toPet(), toPet()];
    const stock = (id: bigint, quantity: number) =>
      sendUpdate(target, id, `{"quantity":${quantity}}`);
    for (const id of [petId, other]) await stock(id, 5);
    const client = createPetstoreClient({ baseUrl: target.baseUrl, apiKey: target.apiKey });
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
    for (const _ of [1, 2]) await attempt('again/2');
    expect(await quantityNow(petId)).toBe(1);
  });
});
