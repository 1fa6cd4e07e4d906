import { execFile, spawnSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../../infra/local/engine/loopback.ts';
import { createPetstoreClient } from '../../../../shared/client/index.ts';
import { parseJson } from '../../../../shared/contract/values.ts';
import { startLossyProxy } from '../../../support/faults/lossyProxy.ts';
import { fixtures } from '../../fixtures.ts';
import { type FaultyTarget, openFaultyStage } from '../../localTarget.ts';
import { readEntry } from '../../operations/inventoryEntry.ts';
import { sendUpdate } from '../../target.ts';

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [pending = 0n] = byStatus('pending');
/** Each test that sells has its own pet. */
const [contended = 0n, soldOut = 0n, ...available] = byStatus('available');
const notForSale = [pending, soldOut];

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

let target: FaultyTarget;
let settings: Record<string, string>;
beforeAll(async () => {
  target = await openFaultyStage(fixtures);
  settings = { BASE_ADDRESS: target.baseUrl, API_KEY: target.apiKey };
  await stock(pending, 3);
  await stock(soldOut, 0);
});
afterAll(() => target?.close());

/** Runs a script to its end. @returns its output */
async function run(program: string, file: string, petId = 0n, changes = {}): Promise<string> {
  const env = { ...process.env, ...settings, ...changes };
  const args = [join(examples, file), `${petId}`];
  return (await promisify(execFile)(program, args, { env })).stdout;
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
const sell = (file: keyof typeof tools, petId: bigint, changes = {}) =>
  run(programOf[file], file, petId, changes);

describe.each(installed)('%s', { concurrent: true }, (file) => {
  const [quiet = 0n, busy = 0n] = available.splice(0, 2);

  it('sells a piece', async ({ expect }) => {
    await stock(quiet, 5);
    expect(parseJson(await sell(file, quiet))).toMatchObject({ petId: Number(quiet), quantity: 4 });
    expect(await quantityNow(quiet)).toBe(4);
  });

  it('retries an update after 503 with the same key, and starts over with another after 412', async ({
    expect,
  }) => {
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
        response.pipe(outgoing.writeHead(status ?? 500, { 'Retry-After': '1' }));
      });
      incoming.pipe(onward);
    });
    const port = await listen(proxy, 0, '');
    await sell(file, busy, { BASE_ADDRESS: `http://127.0.0.1:${port}/v1` });
    proxy.close();
    expect([keys.length, new Set(keys).size, keys[1] === keys[2]]).toEqual([3, 2, true]);
    expect(await quantityNow(busy)).toBe(2);
  });

  it('sells nothing if the service refuses or the pet is not for sale', async ({ expect }) => {
    const refused = sell(file, quiet, { API_KEY: 'psk_wrong' });
    await expect(refused).rejects.toThrow('The API key is not valid.');
    for (const petId of [...notForSale, target.fixtures.missingPetId]) {
      const stderr = `Pet ${petId} is not for sale.\n`;
      await expect(sell(file, petId)).rejects.toMatchObject({ stderr });
    }
  });
});

it('twenty shops sell exactly fifteen pieces while a tenth of all responses is lost', async () => {
  const petId = contended;
  await stock(petId, 15);
  const lossy = await startLossyProxy(target.baseUrl);
  const client = createPetstoreClient({
    baseUrl: lossy.baseUrl,
    apiKey: target.apiKey,
    maxRetries: 9,
  });
  const sellByClient = () =>
    client.updateStock(petId, ({ status, quantity }) => {
      if (status !== 'available' || quantity === 0) throw new Error('It is not for sale.');
      return quantity - 1;
    });
  const kinds = [
    ...installed.map((file) => () => sell(file, petId, { BASE_ADDRESS: lossy.baseUrl })),
    sellByClient,
  ];
  const sales = Array.from({ length: 20 }, (_, index) => kinds[index % kinds.length]?.());
  const ends = await Promise.allSettled(sales);
  lossy.close();
  const refusals = ends.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []));
  expect(refusals).toEqual(Array(5).fill(expect.stringContaining('is not for sale.')));
  expect(await quantityNow(petId)).toBe(0);
  expect(lossy.lost()).toBeGreaterThan(5);
});
