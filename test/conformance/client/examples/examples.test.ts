import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineKeyRegister } from '../../../../infra/cli/keyRegister.ts';
import { type Order, sellOrder } from '../../../../shared/client/examples/orders.ts';
import {
  type ClientOptions,
  createPetstoreClient,
  type PetstoreClient,
} from '../../../../shared/client/index.ts';
import { parseJson } from '../../../../shared/contract/json.ts';
import { readVariable } from '../../../../shared/runtime/environment.ts';
import { startLossyProxy, startProxy } from '../../../support/faults/proxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';
import { installed, runExample, runSeller, type Seller } from './sellers.ts';

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [pending = 0n] = byStatus('pending');
/** Each test that sells has its own pet. */
const [contended = 0n, soldOut = 0n, one = 0n, other = 0n, ...available] = byStatus('available');
const notForSale = [pending, soldOut];

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

// Runs before other tests change the list.
it('list.ts lists every entry, digit for digit', async () => {
  const lines = (await runExample(target, process.execPath, 'list.ts')).trimEnd().split('\n');
  const { items } = await openClient().listInventory();
  const expected = items.map(({ petId, quantity, status }) => `${petId}: ${quantity} ${status}`);
  expect(lines.sort()).toEqual(expected.sort());
});

const sell = (file: Seller, args: readonly unknown[], changes?: object, signal?: AbortSignal) =>
  runSeller(target, file, args, changes, signal);

describe.each(installed)('%s', { concurrent: true }, (file) => {
  const [quiet = 0n, busy = 0n] = available.splice(0, 2);

  it('retries an update after 503, and starts over after 412, with one key', async ({ expect }) => {
    await stock(busy, 5);
    const keys: unknown[] = [];
    // Before the first update, another shop sells a piece. The second takes effect, but gets 503.
    const proxy = await startProxy(target.baseUrl, async ({ method, headers }) => {
      if (method !== 'PATCH') return 'passed';
      keys.push(headers['idempotency-key']);
      if (keys.length === 1) await stock(busy, 3);
      return keys.length === 2 ? 'busy' : 'passed';
    });
    const sold = await sell(file, [busy], { BASE_ADDRESS: proxy.baseUrl });
    expect(parseJson(sold)).toMatchObject({ quantity: 2 });
    proxy.close();
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect(await quantityNow(busy)).toBe(2);
  });

  it('sells nothing if the service refuses or the pet is not for sale', async ({ expect }) => {
    const refused = sell(file, [quiet], { API_KEY: 'psk_wrong' });
    await expect(refused).rejects.toThrow('The API key is not valid.');
    const missing = sell(file, [target.fixtures.missingPetId]);
    await expect(missing).rejects.toThrow('There is no inventory entry');
    for (const petId of notForSale) {
      const stderr = `Pet ${petId} is not for sale.\n`;
      await expect(sell(file, [petId])).rejects.toMatchObject({ stderr });
    }
  });
});

it('twenty shops that restart, rotate keys and lose a tenth of the responses sell one piece for each order', async () => {
  await stock(contended, 100);
  const lossy = await startLossyProxy(target.baseUrl);
  const database = new DynamoDBClient();
  const register = defineKeyRegister(database, readVariable('API_KEYS_TABLE'));
  let key = await register.create({ name: 'shops', permission: 'write' });
  const petstore = createPetstoreClient({
    baseUrl: lossy.baseUrl,
    apiKey: () => key.apiKey,
    maxRetries: 9,
  });
  const soldBefore: string[] = [];
  const kinds: ((order: string, signal?: AbortSignal) => Promise<unknown>)[] = [
    async (order, signal) => {
      const options = { idempotencyKey: order, signal };
      const selling = petstore.updateStock(contended, ({ quantity }) => quantity - 1, options);
      await selling.catch((error) => {
        if (error.effect !== 'applied') throw error;
        soldBefore.push('client');
      });
    },
    ...installed.map((file) => async (order: string, signal?: AbortSignal) => {
      const env = { BASE_ADDRESS: lossy.baseUrl, API_KEY: key.apiKey, TMPDIR: folder };
      const output = await sell(file, [contended, order], env, signal);
      if (output === `Order ${order} was sold already.\n`) soldBefore.push(file);
    }),
  ];
  const shops = Array.from({ length: 20 }, async (_, index) => {
    // Each kind of shop gets orders that are delivered once, twice and three times.
    for (let left = Math.floor(index / kinds.length) % 3; left >= 0; left -= 1) {
      // The shop is killed at some time before the last delivery, and between a sale and its record before that.
      const restart = left === 1 ? AbortSignal.timeout(randomInt(1_000)) : undefined;
      const selling = kinds[index % kinds.length]?.(`order-${index}`, restart);
      await selling?.catch((error) => expect.soft(restart?.aborted, String(error)).toBe(true));
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
  expect(await quantityNow(contended)).toBe(100 - 20);
  expect(new Set(soldBefore).size).toBe(kinds.length);
  expect(lossy.lost()).toBeGreaterThan(5);
});

describe('orders.ts', () => {
  /** The shop ends: neither its program nor its database does anything more. */
  class Crash extends Error {}

  /**
   * Runs an order in a shop that crashes before or after one of its steps: a request, its response, or a write to its
   * database. Then runs it again, from what the database has.
   * @param crashAt the step, counted from 1
   */
  async function runOrder(order: Order, crashAt: number) {
    let steps = 0;
    let saved = structuredClone(order);
    function step(): void {
      steps += 1;
      if (steps === crashAt) throw new Crash();
    }
    const client: PetstoreClient = openClient({
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
    ['sells nothing if one pet is unknown', [one, fixtures.missingPetId], [false]],
  ])('%s, wherever the shop crashes', async (name, petIds, outcomes) => {
    const client = openClient();
    const seen = new Set<boolean>();
    let isCrashed = true;
    let crashAt = 0;
    for (; isCrashed; crashAt += 1) {
      await stock(one, 5);
      // The last piece: after its sale, the pet is not for sale.
      await stock(other, 1);
      await stock(soldOut, 0);
      const order = { id: `${name}-${crashAt}`.replaceAll(' ', '-'), lines: petIds.map(toLine) };
      const ran = await runOrder(order, crashAt + 1);
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
});
