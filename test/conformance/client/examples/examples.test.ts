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
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { type FaultyTarget, openFaultyStage } from '../../faults/faultyTarget.ts';
import { exactPetIds, fixtures } from '../../fixtures.ts';
import { readEntry } from '../../operations/inventoryEntry.ts';
import { sendUpdate } from '../../target.ts';

/** What the page makes of the client's module. */
declare global {
  var createPetstoreClient: typeof clientModule.createPetstoreClient;
  var client: clientModule.PetstoreClient;
}

/** For each test that sells, a pet of its own. */
const [first, second, third, fourth] = exactPetIds;

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
});
afterAll(async () => {
  shop?.stop();
  await target?.close();
});

/** What a script writes, to its end. */
async function run(program: string, file: string, petId = 0n, changes = {}): Promise<string> {
  const env = { ...process.env, ...settings, ...changes };
  const args = [join(examples, file), `${petId}`];
  return (await promisify(execFile)(program, args, { env })).stdout;
}

/** Starts the shop on a port of its own, and gives the address that it prints. */
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

// Before the others change what it lists.
it('list.ts lists every entry, digit for digit', async () => {
  const lines = (await run(process.execPath, 'list.ts')).trimEnd().split('\n');
  const expected = target.fixtures.inventory.map(
    ({ petId, quantity, status }) => `${petId}: ${quantity} ${status}`,
  );
  expect(lines.sort()).toEqual(expected.sort());
});

const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe.runIf(hasCurl)('curl.sh', { concurrent: true }, () => {
  it('lists the inventory and sells a piece', async ({ expect }) => {
    await stock(first, 5);
    const lines = (await run('sh', 'curl.sh', first)).trim().split('\n');
    expect(parseJson(lines[0] ?? '')).toHaveLength(target.fixtures.inventory.length);
    expect(parseJson(lines.at(-1) ?? '')).toMatchObject({ petId: first, quantity: 4 });
    expect(await quantityNow(first)).toBe(4);
  });

  it('repeats an update after 503, and sells once', async ({ expect }) => {
    await stock(second, 5);
    const keys: unknown[] = [];
    // Lets the first update through, and answers it 503 all the same.
    const proxy = createServer((incoming, outgoing) => {
      const { method = 'GET', url = '/', headers } = incoming;
      if (method === 'PATCH') keys.push(headers['idempotency-key']);
      const isBusy = method === 'PATCH' && keys.length === 1;
      const onward = request(new URL(url, target.baseUrl), { method, headers }, (response) => {
        const status = isBusy ? 503 : response.statusCode;
        response.pipe(outgoing.writeHead(status ?? 500, { 'Retry-After': '1' }));
      });
      incoming.pipe(onward);
    });
    const port = await listen(proxy, 0, '');
    await run('sh', 'curl.sh', second, { BASE_ADDRESS: `http://127.0.0.1:${port}/v1` });
    proxy.close();
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(await quantityNow(second)).toBe(4);
  });

  it('fails where the service refuses', async ({ expect }) => {
    await stock(third, 0);
    const refused = run('sh', 'curl.sh', third, { API_KEY: 'psk_wrong' });
    await expect(refused).rejects.toMatchObject({ code: 22 });
    const soldOut = { stderr: `Pet ${third} is sold out.\n` };
    await expect(run('sh', 'curl.sh', third)).rejects.toMatchObject(soldOut);
  });
});

it('shop/server.ts sells every piece once, and tells what is sold out from what it does not know', async () => {
  await stock(fourth, 5);
  const sell = (id: unknown, method = 'POST') => fetch(`${shop.address}/sell/${id}`, { method });
  const answers = await Promise.all(Array.from({ length: 8 }, () => sell(fourth)));
  const sold = answers.filter(({ status }) => status === 200);
  const left = (await Promise.all(sold.map((answer) => answer.json()))) as { quantity: number }[];
  expect(left.map(({ quantity }) => quantity).sort()).toEqual([0, 1, 2, 3, 4]);
  expect(left[0]).toMatchObject({ petId: `${fourth}` });
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
  expect(await quantityNow(fourth)).toBe(0);
  expect((await sell(target.fixtures.missingPetId)).status).toBe(404);
  expect((await sell('x')).status).toBe(404);
  expect((await sell(fourth, 'GET')).status).toBe(404);
});

describe.runIf(findChromium())('the shop page', () => {
  /** It is available, and `curl.sh` is done with it. */
  const petId = first;
  let browser: Browser;
  let page: Page;
  /** What the page sent and got: headers and bodies. */
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
  });

  it('gets 304 while nothing has changed, and the new stock when it has', async () => {
    const answered = (status: number) =>
      page.waitForResponse(
        (response) =>
          response.url() === `${target.baseUrl}/inventory` && response.status() === status,
      );
    const same = answered(304);
    await page.clock.fastForward(5_000);
    await same;
    const { baseUrl, apiKey } = target;
    const client = clientModule.createPetstoreClient({ baseUrl, apiKey });
    await client.updateInventory(petId, { quantity: 2 });
    const changed = answered(200);
    await page.clock.fastForward(5_000);
    await changed;
    await cardOf(petId).getByText('2 in stock').waitFor();
  });

  it('sells a piece', async () => {
    await cardOf(petId).getByRole('button', { name: 'Buy' }).click();
    await cardOf(petId).getByText('1 in stock').waitFor();
    await page.getByText(`Pet ${petId} is yours.`).waitFor();
  });

  it('has the key that reads, and never sees the one that writes', async () => {
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
          // A page that came over plain HTTP has none; this one came from the machine itself.
          crypto.randomUUID = undefined as never;
          globalThis.client = createPetstoreClient(options);
        },
        { baseUrl, apiKey },
      );
    });

    it('lists the inventory, every id exact, whole, in pages and streamed, and not again', async () => {
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

    it('sees errors, redirects, the end of a deprecated operation, a list that broke off, an abort', async () => {
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
        const answers = [code, status, redirected.code, redirected.status, broken.code, aborted];
        return { requestId, answers };
      }, `${shop.address}/moved`);
      expect(seen).toEqual({
        requestId: expect.any(String),
        answers: ['not_found', 404, 'invalid_answer', undefined, 'incomplete_list', 'enough'],
      });
      expect((await warning).text()).toContain('2027-12-01');
    });
  });
});
