import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleClient } from '../../../../infra/client/buildClient.ts';
import { listen } from '../../../../infra/local/engine/loopback.ts';
import * as clientModule from '../../../../shared/client/index.ts';
import { parseJson } from '../../../../shared/contract/values.ts';
import { findChromium, launchChromium } from '../../../browser/chromium.ts';
import { startLossyProxy } from '../../../support/faults/lossyProxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { fixtures } from '../../fixtures.ts';
import { type FaultyTarget, openFaultyStage } from '../../localTarget.ts';
import { readEntry } from '../../operations/inventoryEntry.ts';
import { sendUpdate } from '../../target.ts';

/** The client's module, as the page uses it. */
declare global {
  var createPetstoreClient: typeof clientModule.createPetstoreClient;
  var client: clientModule.PetstoreClient;
}

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [pending = 0n] = byStatus('pending');
/** Each test that sells has its own pet. */
const [contended = 0n, ordered = 0n, shown = 0n, soldOut = 0n, ...available] =
  byStatus('available');
const notForSale = [pending, soldOut];

const examples = join(import.meta.dirname, '../../../../shared/client/examples');

let target: FaultyTarget;
let settings: Record<string, string>;
const folder = openTemporaryFolder();
let shop: { address: string; stop(): void };
beforeAll(async () => {
  target = await openFaultyStage(fixtures);
  settings = { BASE_ADDRESS: target.baseUrl, API_KEY: target.apiKey };
  const CLIENT_MODULE = folder.toPath('client.js');
  await bundleClient(CLIENT_MODULE);
  shop = await start({ READ_KEY: target.readOnlyApiKey, CLIENT_MODULE });
  await stock(pending, 3);
  await stock(soldOut, 0);
});
afterAll(async () => {
  shop?.stop();
  await target?.close();
});

/** Runs a script to its end. @returns its output */
async function run(program: string, file: string, petId = 0n, changes = {}): Promise<string> {
  const env = { ...process.env, ...settings, ...changes };
  const args = [join(examples, file), `${petId}`];
  return (await promisify(execFile)(program, args, { env })).stdout;
}

/** Starts the shop on its own port. @returns the address that it prints */
async function start(changes: Record<string, string>): Promise<typeof shop> {
  const child = spawn(process.execPath, [join(examples, 'shop/server.ts')], {
    env: { ...process.env, ...settings, ...changes, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { address: /http:\S+/.exec(line)?.[0] ?? '', stop: () => child.kill() };
}

const stock = (petId: bigint, quantity: number) =>
  sendUpdate(target, petId, `{"quantity":${quantity}}`);
const quantityNow = async (petId: bigint) => (await readEntry(target, petId))?.quantity;

// Runs before other tests change the list.
it('list.ts lists every entry, digit for digit', async () => {
  const { baseUrl, apiKey } = target;
  const lines = (await run(process.execPath, 'list.ts')).trimEnd().split('\n');
  const { items } = await clientModule.createPetstoreClient({ baseUrl, apiKey }).listInventory();
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
  const client = clientModule.createPetstoreClient({
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

it('shop/server.ts sells every piece once, and knows pets that are not for sale from unknown ones', async () => {
  await stock(ordered, 5);
  const sell = (id: unknown, method = 'POST') => fetch(`${shop.address}/sell/${id}`, { method });
  const responses = await Promise.all(Array.from({ length: 8 }, () => sell(ordered)));
  const sold = responses.filter(({ status }) => status === 200);
  const left = (await Promise.all(sold.map((response) => response.json()))) as {
    quantity: number;
  }[];
  expect(left.map(({ quantity }) => quantity).sort()).toEqual([0, 1, 2, 3, 4]);
  expect(left[0]).toMatchObject({ petId: `${ordered}` });
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(3);
  expect(await quantityNow(ordered)).toBe(0);
  for (const petId of notForSale) {
    const response = await sell(petId);
    expect([response.status, await response.json()]).toEqual([
      409,
      { error: 'It is not for sale.' },
    ]);
  }
  expect((await sell(target.fixtures.missingPetId)).status).toBe(404);
  expect((await sell('x')).status).toBe(404);
  expect((await sell(ordered, 'GET')).status).toBe(404);
});

describe.runIf(findChromium())('the shop page', () => {
  const petId = shown;
  let browser: Browser;
  let page: Page;
  /** The page's requests and responses: headers and bodies. */
  const traffic: Promise<string>[] = [];

  beforeAll(async () => {
    await stock(petId, 3);
    browser = await launchChromium();
    page = await browser.newPage();
    page.on('response', (response) => {
      const headers = response.request().allHeaders();
      const text = response.text().catch(() => '');
      traffic.push(Promise.all([response.url(), headers, text]).then(JSON.stringify as never));
    });
    await page.clock.install();
    await page.goto(shop.address);
  });
  afterAll(() => browser?.close());

  const cardOf = (id: bigint) =>
    page.locator('li', { has: page.getByRole('heading', { name: `Pet ${id}`, exact: true }) });

  it('shows the stock of every pet, with its status', async () => {
    await cardOf(petId).waitFor();
    expect(await page.locator('li').count()).toBe(target.fixtures.inventory.length);
    const text = (await cardOf(petId).innerText()).split(/\s*\n\s*/);
    expect(text.slice(0, 3)).toEqual([`Pet ${petId}`, 'available', '3 in stock']);
    const buttons = [petId, ...notForSale].map((id) => cardOf(id).getByRole('button'));
    const isOffered = await Promise.all(buttons.map((button) => button.isEnabled()));
    expect(isOffered).toEqual([true, false, false]);
  });

  it('gets 304 while nothing changes, and the new stock after a change', async () => {
    const responded = (status: number) =>
      page.waitForResponse(
        (response) =>
          response.url() === `${target.baseUrl}/inventory` && response.status() === status,
      );
    const same = responded(304);
    await page.clock.fastForward(5_000);
    await same;
    const { baseUrl, apiKey } = target;
    const client = clientModule.createPetstoreClient({ baseUrl, apiKey });
    await client.updateInventory(petId, { quantity: 2 });
    const changed = responded(200);
    await page.clock.fastForward(5_000);
    await changed;
    await cardOf(petId).getByText('2 in stock').waitFor();
  });

  it('sells a piece', async () => {
    await cardOf(petId).getByRole('button', { name: 'Buy' }).click();
    await cardOf(petId).getByText('1 in stock').waitFor();
    await page.getByText(`Pet ${petId} is yours.`).waitFor();
  });

  it('has the read key, and never sees the write key', async () => {
    const text = (await Promise.all(traffic)).join('\n');
    for (const sent of [`Bearer ${target.readOnlyApiKey}`, '/settings.json', '/sell/']) {
      expect(text).toContain(sent);
    }
    expect(text + (await page.content())).not.toContain(target.apiKey);
  });

  describe('with the client from another origin, over plain HTTP', () => {
    beforeAll(async () => {
      const content = `import { createPetstoreClient } from '/petstore-inventory-client.js';
        globalThis.createPetstoreClient = createPetstoreClient;`;
      await page.addScriptTag({ type: 'module', content });
      await page.waitForFunction('globalThis.createPetstoreClient');
      const { baseUrl, apiKey } = target;
      await page.evaluate(
        (options) => {
          // Pages over plain HTTP lack it; this page is from the machine itself and has it.
          crypto.randomUUID = undefined as never;
          globalThis.client = createPetstoreClient(options);
        },
        { baseUrl, apiKey },
      );
    });

    it('lists the inventory with exact ids, whole, in pages, streamed, and with 304', async () => {
      const [again, ...lists] = await page.evaluate(async () => {
        const { items, etag } = await client.listInventory();
        const again = [typeof etag, await client.listInventory({ ifNoneMatch: etag })];
        const paged = [];
        for await (const { items } of client.inventoryPages({ limit: 20 })) paged.push(...items);
        const streamed = [];
        for await (const item of client.streamInventory()) streamed.push(item);
        return [again, items, paged, streamed];
      });
      expect(again).toEqual(['string', undefined]);
      const petIds = new Set(fixtures.inventory.map((entry) => entry.petId));
      for (const list of lists as clientModule.InventoryItem[][]) {
        expect(new Set(list.map((entry) => entry.petId))).toEqual(petIds);
      }
    });

    it('sells by updateStock', async () => {
      const after = await page.evaluate(async (petId) => {
        await client.updateInventory(petId, { quantity: 9 });
        return client.updateStock(petId, (entry) => entry.quantity - 1);
      }, petId);
      expect(after).toMatchObject({ petId, quantity: 8 });
    });

    it('sees errors, redirects, the sunset of an operation, a truncated list, an abort', async () => {
      const warning = page.waitForEvent('console', (message) => message.type() === 'warning');
      await page.route('**/moved/**', (route) =>
        route.fulfill({ status: 302, headers: { Location: '/' } }),
      );
      target.store.pageSize = 10;
      target.store.fail({ action: 'Scan', fault: 'accessDenied', after: 2 });
      const seen = await page.evaluate(async (baseUrl) => {
        const missing = await client.getPet(404n).catch((error) => error);
        const moved = createPetstoreClient({ baseUrl, apiKey: 'x' });
        const redirected = await moved.listOrders().catch((error) => error);
        let broken: { code?: string } = {};
        try {
          for await (const _ of client.streamInventory());
        } catch (error) {
          broken = error as typeof broken;
        }
        const signal = AbortSignal.abort('enough');
        const aborted = await client.listOrders({}, { signal }).catch((reason) => reason);
        const { code, status, requestId } = missing;
        const responses = [code, status, redirected.code, redirected.status, broken.code, aborted];
        return { requestId, responses };
      }, `${shop.address}/moved`);
      expect(seen).toEqual({
        requestId: expect.any(String),
        responses: ['not_found', 404, 'invalid_answer', undefined, 'incomplete_list', 'enough'],
      });
      expect((await warning).text()).toContain('2027-12-01');
    });
  });
});
