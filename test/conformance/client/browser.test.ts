import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleClient } from '../../../infra/docs/client/buildClient.ts';
import { listen } from '../../../infra/local/engine/loopback.ts';
import type * as clientModule from '../../../shared/client/index.ts';
import { findChromium, openChromium } from '../../support/chromium.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { type FaultyTarget, openFaultyStage } from '../localTarget.ts';
import { fixtures } from '../target.ts';

/** The client's module, as a page uses it. */
declare global {
  var createPetstoreClient: typeof clientModule.createPetstoreClient;
  var client: clientModule.PetstoreClient;
}

const document = `<!doctype html><script type="module">
  import { createPetstoreClient } from '/client.js';
  globalThis.createPetstoreClient = createPetstoreClient;
</script>`;

const { changeablePetId: petId } = fixtures;

describe.runIf(findChromium())('the client in a page from another origin, over plain HTTP', () => {
  let target: FaultyTarget;
  let origin: string;
  let page: Page;
  const folder = openTemporaryFolder();
  const server = createServer(async ({ url }, response) => {
    const isScript = url === '/client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? await readFile(folder.toPath('client.js')) : document);
  });

  beforeAll(async () => {
    target = await openFaultyStage(fixtures);
    await bundleClient(folder.toPath('client.js'));
    origin = `http://127.0.0.1:${await listen(server, 0, '')}`;
    page = await (await openChromium()).newPage();
    await page.goto(origin);
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
  afterAll(async () => {
    await page?.close();
    server.close();
    await target?.close();
  });

  it('lists the inventory with exact ids, whole, in pages, and with 304', async () => {
    const [again, ...lists] = await page.evaluate(async () => {
      const { items, etag } = await client.listInventory();
      const again = [typeof etag, await client.listInventory({ ifNoneMatch: etag })];
      const paged = [];
      for await (const { items } of client.inventoryPages({ limit: 20 })) paged.push(...items);
      return [again, items, paged];
    });
    expect(again).toEqual(['string', undefined]);
    const petIds = new Set(fixtures.inventory.map((entry) => entry.petId));
    for (const list of lists as clientModule.InventoryItem[][]) {
      expect(new Set(list.map((entry) => entry.petId))).toEqual(petIds);
    }
  });

  it('sets a count by its tag, and takes a unit back once', async () => {
    const [updated, returned, replayed] = await page.evaluate(async (petId) => {
      const { etag } = await client.getInventoryEntry(petId);
      const updated = await client.updateInventory(petId, { quantity: 9 }, { ifMatch: etag });
      const giveBack = () =>
        client.adjustInventory([{ petId, delta: 1 }], { idempotencyKey: 'return-1' });
      return [updated, await giveBack(), await giveBack()] as const;
    }, petId);
    expect(updated).toMatchObject({ petId, quantity: 9 });
    const entries = [{ petId, quantity: 10 }];
    expect([returned, replayed]).toMatchObject([{ entries }, { entries }]);
  });

  it('sees errors, redirects, the sunset of an operation, a truncated list, an abort', async () => {
    const warning = page.waitForEvent('console', (message) => message.type() === 'warning');
    await page.route('**/moved/**', (route) =>
      route.fulfill({ status: 302, headers: { Location: '/' } }),
    );
    // The service's own response, as of a deprecated operation.
    await page.route('**/inventory/404', async (route) => {
      const response = await route.fetch();
      const lifecycle = { Deprecation: '@1796083200', Sunset: 'Wed, 01 Dec 2027 00:00:00 GMT' };
      await route.fulfill({ response, headers: { ...response.headers(), ...lifecycle } });
    });
    target.store.pageSize = 10;
    target.store.fail({ action: 'Scan', fault: 'accessDenied', after: 2 });
    const seen = await page.evaluate(async (baseUrl) => {
      const missing = await client.getInventoryEntry(404n).catch((error) => error);
      const moved = createPetstoreClient({ baseUrl, apiKey: 'x' });
      const redirected = await moved.listOrders().catch((error) => error);
      const broken = await client.listInventory({}, { maxRetries: 0 }).catch((error) => error);
      const signal = AbortSignal.abort('enough');
      const aborted = await client.listOrders({}, { signal }).catch((reason) => reason);
      const { code, status, requestId } = missing;
      const responses = [code, status, redirected.code, redirected.status, broken.code, aborted];
      return { requestId, responses };
    }, `${origin}/moved/v1`);
    expect(seen).toEqual({
      requestId: expect.any(String),
      responses: ['not_found', 404, 'invalid_response', undefined, 'incomplete_list', 'enough'],
    });
    expect((await warning).text()).toContain('2027-12-01');
  });
});
