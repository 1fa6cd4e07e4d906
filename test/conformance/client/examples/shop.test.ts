import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleClient } from '../../../../infra/client/buildClient.ts';
import { createPetstoreClient } from '../../../../shared/client/index.ts';
import { findChromium, launchChromium } from '../../../browser/chromium.ts';
import { openLocalTarget } from '../../localTarget.ts';
import type { ConformanceTarget } from '../../target.ts';
import { type ExampleServer, startExample } from './exampleProcess.ts';

/** Available, with three in stock. */
const petId = 9223372036854775806n;

describe.runIf(findChromium())('the shop page', () => {
  let target: ConformanceTarget;
  let folder: string;
  let shop: ExampleServer;
  let browser: Browser;
  let page: Page;
  /** What the page sent and got: headers and bodies. */
  const traffic: Promise<string>[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petstore-shop-'));
    const module = join(folder, 'client.js');
    [target, browser] = await Promise.all([
      openLocalTarget(),
      launchChromium(),
      bundleClient(module),
    ]);
    shop = await startExample('shop/server.ts', {
      BASE_ADDRESS: target.baseUrl,
      READ_KEY: target.readOnlyApiKey,
      API_KEY: target.apiKey,
      CLIENT_MODULE: module,
    });
    page = await browser.newPage();
    page.on('response', (response) => void traffic.push(toText(response)));
    await page.clock.install();
    await page.goto(shop.address);
  });
  afterAll(async () => {
    await browser?.close();
    await shop?.stop();
    await target?.close();
    await rm(folder, { recursive: true });
  });

  const cardOf = (id: bigint) =>
    page.locator('li', { has: page.getByRole('heading', { name: `Pet ${id}`, exact: true }) });

  it('shows the stock of every pet, with its status in a colour of its own', async () => {
    const { inventory } = target.fixtures;
    await cardOf(petId).waitFor();
    expect(await page.locator('li').count()).toBe(inventory.length);
    for (const entry of inventory.slice(0, 6)) {
      const [title, status, stock] = (await cardOf(entry.petId).innerText()).split(/\s*\n\s*/);
      expect([title, status]).toEqual([`Pet ${entry.petId}`, entry.status]);
      expect(stock).toBe(`${entry.quantity} in stock`);
    }
    const colours = await page
      .locator('.status')
      .evaluateAll((elements) =>
        elements.map((element) => getComputedStyle(element as never).backgroundColor),
      );
    expect(new Set(colours).size).toBe(3);
  });

  it('gets 304 while nothing has changed, and the new stock when it has', async () => {
    const isList = (status: number) => (response: { url(): string; status(): number }) =>
      response.url() === `${target.baseUrl}/inventory` && response.status() === status;
    const same = page.waitForResponse(isList(304));
    await page.clock.fastForward(5_000);
    await same;
    await createPetstoreClient(target).updateInventory(petId, { quantity: 2 });
    const changed = page.waitForResponse(isList(200));
    await page.clock.fastForward(5_000);
    await changed;
    await cardOf(petId).getByText('2 in stock').waitFor();
  });

  it('sells a piece', async () => {
    const card = cardOf(petId);
    await card.getByRole('button', { name: 'Buy' }).click();
    await card.getByText('1 in stock').waitFor();
    await page.getByText(`Pet ${petId} is yours.`).waitFor();
  });

  it('has the key that reads, and never sees the one that writes', async () => {
    const text = (await Promise.all(traffic)).join('\n');
    expect(text).toContain(`Bearer ${target.readOnlyApiKey}`);
    for (const name of ['/shop.js', '/settings.json', '/petstore-inventory-client.js', '/sell/']) {
      expect(text).toContain(name);
    }
    expect(text).not.toContain(target.apiKey);
    expect(await page.content()).not.toContain(target.apiKey);
  });
});

/** What was asked, with every header, and what was answered. */
async function toText(response: Response): Promise<string> {
  const headers = JSON.stringify(await response.request().allHeaders());
  return `${response.url()} ${headers} ${await response.text().catch(() => '')}`;
}

/** Of the page, where the colours are asked for. */
declare function getComputedStyle(element: never): { readonly backgroundColor: string };
