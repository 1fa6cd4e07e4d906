import { execFile, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineKeyRegister } from '../../../../infra/cli/keyRegister.ts';
import { listen } from '../../../../infra/local/engine/loopback.ts';
import { createPetstoreClient } from '../../../../shared/client/index.ts';
import { parseJson } from '../../../../shared/contract/values.ts';
import { readVariable } from '../../../../shared/runtime/environment.ts';
import { startLossyProxy } from '../../../support/faults/lossyProxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { type FaultyTarget, openFaultyStage } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { fixtures, sendUpdate } from '../../target.ts';

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [pending = 0n] = byStatus('pending');
/** Each test that sells has its own pet. */
const [contended = 0n, soldOut = 0n, ...available] = byStatus('available');
const notForSale = [pending, soldOut];

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

let target: FaultyTarget;
let settings: Record<string, string>;
const { folder } = openTemporaryFolder();
beforeAll(async () => {
  target = await openFaultyStage(fixtures);
  settings = { BASE_ADDRESS: target.baseUrl, API_KEY: target.apiKey };
  await stock(pending, 3);
  await stock(soldOut, 0);
});
afterAll(() => target?.close());

async function run(
  program: string,
  file: string,
  petId = 0n,
  changes = {},
  { order, signal }: { order?: string; signal?: AbortSignal | undefined } = {},
): Promise<string> {
  const env = { ...process.env, ...settings, ...changes };
  const args = [join(examples, file), `${petId}`, ...(order === undefined ? [] : [order])];
  const options = { env, signal, killSignal: 'SIGKILL' } as const;
  return (await promisify(execFile)(program, args, options)).stdout;
}

const stock = (petId: bigint, quantity: number) =>
  sendUpdate(target, petId, `{"quantity":${quantity}}`);
const quantityNow = async (petId: bigint) => (await readEntry(target, petId))?.quantity;

// Runs before other tests change the list.
it('list.ts lists every entry, digit for digit', async () => {
  const { baseUrl, apiKey } = target;
  const lines = (await run(process.execPath, 'list.ts')).trimEnd().split('\n');
  const { items } = await createPetstoreClient({ baseUrl, apiKey }).listInventory();
  const expected = items.map(({ petId, quantity, status }) => `${petId}: ${quantity} ${status}`);
  expect(lines.sort()).toEqual(expected.sort());
});

const shops = ['curl.sh', 'sell.py'] as const;
const programOf = { 'curl.sh': 'sh', 'sell.py': 'python3' };
const tools = { 'curl.sh': 'curl', 'sell.py': 'python3' };
const installed = shops.filter((file) => spawnSync(tools[file], ['--version']).status === 0);
const sell = (
  file: keyof typeof tools,
  petId: bigint,
  changes = {},
  delivery?: Parameters<typeof run>[4],
) => run(programOf[file], file, petId, changes, delivery);

describe.each(installed)('%s', { concurrent: true }, (file) => {
  const [quiet = 0n, busy = 0n, ordered = 0n] = available.splice(0, 3);

  it('sells a piece', async ({ expect }) => {
    await stock(quiet, 5);
    expect(parseJson(await sell(file, quiet))).toMatchObject({ petId: Number(quiet), quantity: 4 });
    expect(await quantityNow(quiet)).toBe(4);
  });

  it('sells one piece for an order', async ({ expect }) => {
    await stock(ordered, 5);
    const delivery = { order: `order-of-${file}` };
    const outputs = [
      await sell(file, ordered, {}, delivery),
      await sell(file, ordered, {}, delivery),
    ];
    expect(parseJson(`${outputs[0]}`)).toMatchObject({ quantity: 4 });
    expect(outputs[1]).toBe(`Order ${delivery.order} was sold already.\n`);
    expect(await quantityNow(ordered)).toBe(4);
  });

  it('retries an update after 503, and starts over after 412, with one key', async ({ expect }) => {
    await stock(busy, 5);
    const keys: unknown[] = [];
    // The first update takes effect but gets 503; before it, another shop sells a piece.
    const proxy = createServer(async (incoming, outgoing) => {
      const { method = 'GET', url = '/', headers } = incoming;
      if (method === 'PATCH') keys.push(headers['idempotency-key']);
      if (method === 'PATCH' && keys.length === 1) await stock(busy, 3);
      const isBusy = method === 'PATCH' && keys.length === 2;
      const onward = request(new URL(url, target.baseUrl), { method, headers }, (response) => {
        const status = isBusy ? 503 : response.statusCode;
        response.pipe(
          outgoing.writeHead(status ?? 500, { ...response.headers, 'Retry-After': '1' }),
        );
      });
      incoming.pipe(onward);
    });
    const port = await listen(proxy, 0, '');
    await sell(file, busy, { BASE_ADDRESS: `http://127.0.0.1:${port}/v1` });
    proxy.close();
    expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    expect(await quantityNow(busy)).toBe(2);
  });

  it('sells nothing if the service refuses or the pet is not for sale', async ({ expect }) => {
    const refused = sell(file, quiet, { API_KEY: 'psk_wrong' });
    await expect(refused).rejects.toThrow('The API key is not valid.');
    const missing = sell(file, target.fixtures.missingPetId);
    await expect(missing).rejects.toThrow('There is no inventory entry');
    for (const petId of notForSale) {
      const stderr = `Pet ${petId} is not for sale.\n`;
      await expect(sell(file, petId)).rejects.toMatchObject({ stderr });
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
      const output = await sell(file, contended, env, { order, signal });
      if (output.includes('was sold already')) soldBefore.push(file);
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
