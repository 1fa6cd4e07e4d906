import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleClient } from '../../../infra/client/buildClient.ts';
import type * as clientModule from '../../../shared/client/index.ts';
import { findChromium, launchChromium } from '../../browser/chromium.ts';
import { type FaultyTarget, openFaultyTarget } from '../faults/faultyTarget.ts';

/** What the page makes of the module. */
declare global {
  var createPetstoreClient: typeof clientModule.createPetstoreClient;
  var client: clientModule.PetstoreClient;
  var isSecureContext: boolean;
  var location: { readonly origin: string };
}

const html = `<!doctype html><title>Shop</title><script type="module">
  import { createPetstoreClient } from '/client.js';
  globalThis.createPetstoreClient = createPetstoreClient;
</script>`;

// Not a loopback name, so that the page is no secure context, and has no `crypto.randomUUID`.
const host = 'shop.example';

describe.runIf(findChromium())('in Chromium, from another origin, the client', () => {
  let target: FaultyTarget;
  let shop: Server;
  let browser: Browser;
  let page: Page;
  const petId = () => target.fixtures.changeablePetId.toString();

  beforeAll(async () => {
    [target, shop, browser] = await Promise.all([
      openFaultyTarget(),
      startShop(),
      launchChromium(`--host-resolver-rules=MAP ${host} 127.0.0.1`),
    ]);
    page = await browser.newPage();
    await page.goto(`http://${host}:${(shop.address() as AddressInfo).port}/`);
    const { baseUrl, apiKey } = target;
    const options = { baseUrl: baseUrl.replace('127.0.0.1', host), apiKey };
    await page.evaluate((options) => {
      globalThis.client = createPetstoreClient(options);
    }, options);
    expect(await page.evaluate(() => globalThis.isSecureContext)).toBe(false);
  });
  afterAll(async () => {
    await browser?.close();
    shop?.close();
    await target?.close();
  });

  it('lists the inventory, every id exact, whole, in pages and streamed', async () => {
    const lists = await page.evaluate(async () => {
      const { items } = await client.listInventory();
      const paged = [];
      for await (const { items } of client.inventoryPages({ limit: 20 })) paged.push(...items);
      const streamed = [];
      for await (const item of client.streamInventory()) streamed.push(item);
      return [items, paged, streamed];
    });
    const wanted = new Set(target.fixtures.inventory);
    for (const list of lists) expect(new Set(list)).toEqual(wanted);
  });

  it('reads no list again that is the same', async () => {
    const again = await page.evaluate(async () => {
      const { etag } = await client.listInventory();
      return [typeof etag, await client.listInventory({ ifNoneMatch: etag })];
    });
    expect(again).toEqual(['string', undefined]);
  });

  it('sells by updateStock', async () => {
    const [before, after] = await page.evaluate(async (petId) => {
      const { quantity } = await client.updateInventory(BigInt(petId), { quantity: 9 });
      return [quantity, await client.updateStock(BigInt(petId), (entry) => entry.quantity - 1)];
    }, petId());
    expect(before).toBe(9);
    expect(after).toMatchObject({ petId: target.fixtures.changeablePetId, quantity: 8 });
  });

  it('sees an error’s code, status and request id, and the end of a deprecated operation', async () => {
    const warning = page.waitForEvent('console', (message) => message.type() === 'warning');
    const error = await page.evaluate(async () => {
      const { code, status, requestId } = await client.getPet(404n).catch((cause) => cause);
      return { code, status, requestId };
    });
    expect(error).toEqual({ code: 'not_found', status: 404, requestId: expect.any(String) });
    expect((await warning).text()).toContain('2027-12-01');
  });

  it('follows no redirect with its key', async () => {
    const error = await page.evaluate(async (apiKey) => {
      const moved = createPetstoreClient({ baseUrl: `${location.origin}/moved`, apiKey });
      const { code, status } = await moved.listOrders().catch((cause) => cause);
      return { code, status };
    }, target.apiKey);
    expect(error).toEqual({ code: 'invalid_answer', status: undefined });
  });

  it('sees that a list broke off, and the reason of an abort', async () => {
    target.store.pageSize = 10;
    target.store.fail({ action: 'Scan', fault: 'accessDenied', after: 2 });
    const seen = await page.evaluate(async () => {
      const codes = [];
      try {
        for await (const _ of client.streamInventory());
      } catch (error) {
        codes.push((error as clientModule.PetstoreError).code);
      }
      const signal = AbortSignal.abort('enough');
      codes.push(await client.listOrders({}, { signal }).catch((reason) => reason));
      return codes;
    });
    target.store.heal();
    expect(seen).toEqual(['incomplete_list', 'enough']);
  });
});

/** Serves an empty page, and the client beside it. */
async function startShop(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-shop-'));
  const file = join(folder, 'client.js');
  await bundleClient(file);
  const module = await readFile(file);
  await rm(folder, { recursive: true });
  const server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/moved')) return response.writeHead(302, { Location: '/' }).end();
    const [type, body] = url === '/client.js' ? ['javascript', module] : ['html', html];
    return response.setHeader('Content-Type', `text/${type}`).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}
