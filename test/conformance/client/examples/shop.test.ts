import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { findChromium, launchChromium } from '../../../support/chromium.ts';
import { type Fate, startProxy } from '../../../support/faults/proxy.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';

const byStatus = (status: string) =>
  fixtures.inventory.filter((entry) => entry.status === status).map(({ petId }) => petId);
const [onHold = 0n] = byStatus('pending');
/** Each test that sells has its own pet. A number would round the first. */
const [shown = 0n, contended = 0n, ordered = 0n, last = 0n, never = 0n, soldOut = 0n, ...more] =
  byStatus('available');
const [lastShown = 0n, focused = 0n, doubled = 0n, repeated = 0n] = more;

/** How long the server keeps the stock, in milliseconds. */
const REFRESH = 300;

let target: ConformanceTarget;
let shop: { address: string; stop(): void };

/** The network between the shop and the service. */
let network: Awaited<ReturnType<typeof startProxy>>;
let fateOfUpdates: Fate = 'passed';
afterEach(() => {
  fateOfUpdates = 'passed';
});

beforeAll(async () => {
  target = await openLocalTarget();
  const quantities: [petId: bigint, quantity: number][] = [
    [onHold, 3],
    [soldOut, 0],
    [shown, 3],
    [contended, 5],
    [ordered, 5],
    [last, 1],
    [never, 1],
    [lastShown, 1],
    [focused, 1],
    [doubled, 5],
    [repeated, 1],
  ];
  for (const [petId, quantity] of quantities) {
    await sendUpdate(target, petId, `{"quantity":${quantity}}`);
  }
  let reads = 0;
  network = await startProxy(target.baseUrl, async ({ method, url }) => {
    if (method === 'PATCH') return fateOfUpdates;
    // A second read comes after the sale that follows the first.
    if (url?.endsWith(`/${repeated}`) && reads++ > 0) await setTimeout(500);
    return 'passed';
  });
  shop = await startShop();
});
afterAll(async () => {
  shop?.stop();
  network?.close();
  await target?.close();
});

/** Starts a shop, which knows nothing of earlier ones. */
async function startShop(API_KEY = target.apiKey): Promise<typeof shop> {
  const file = join(projectRoot, 'shared/client/examples/shop/server.ts');
  const child = spawn(process.execPath, [file], {
    env: {
      ...process.env,
      BASE_ADDRESS: network.baseUrl,
      API_KEY,
      PORT: '0',
      REFRESH_MS: `${REFRESH}`,
    },
    // Unsold orders are on its standard error.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { address: /http:\S+/.exec(line)?.[0] ?? '', stop: () => child.kill() };
}

const quantityNow = async (petId: bigint) => (await readEntry(target, petId)).quantity;

async function order(id: string, petId: unknown, { address } = shop): Promise<[number, string]> {
  const response = await fetch(`${address}/orders/${id}/${petId}`, { method: 'PUT' });
  const { message } = (await response.json()) as { message: string };
  return [response.status, message];
}

const sold: [number, string] = [200, 'It is yours.'];
const refused: [number, string] = [409, 'It is not for sale.'];
const unknown: [number, string] = [503, expect.stringContaining('may or may not have happened')];

describe('the shop’s server', () => {
  it('reads the stock once for all pages, and not again while nothing changes', async () => {
    const { responses } = network;
    responses.length = 0;
    const read = async () => (await fetch(`${shop.address}/stock.json`)).json();
    const [stock] = await Promise.all(Array.from({ length: 10 }, read));
    expect(responses).toEqual(['GET /v1/inventory 200']);
    expect(stock).toHaveLength(fixtures.inventory.length);
    expect(stock).toContainEqual({ petId: `${shown}`, quantity: 3, status: 'available' });
    await setTimeout(REFRESH + 100);
    expect(responses).toHaveLength(1);
    expect(await Promise.all([read(), read()])).toEqual([stock, stock]);
    expect(responses.slice(1)).toEqual(['GET /v1/inventory 304']);
  });

  it('sells every piece once, to any number of customers at once', async () => {
    const orders = Array.from({ length: 8 }, (_, index) => order(`contended-${index}`, contended));
    const outcomes = (await Promise.all(orders)).toSorted();
    expect(outcomes).toEqual([...Array(5).fill(sold), ...Array(3).fill(refused)]);
    expect(await quantityNow(contended)).toBe(0);
  });

  it('sells one order once, however often it is sent, and also after a restart', async () => {
    const three = ['a', 'a', 'a'].map((id) => order(id, ordered));
    expect(await Promise.all(three)).toEqual([sold, sold, sold]);
    expect(await order('a', ordered)).toEqual(sold);
    const restarted = await startShop();
    expect(await order('a', ordered, restarted)).toEqual(sold);
    restarted.stop();
    expect(await quantityNow(ordered)).toBe(4);
    expect(await order('b', ordered)).toEqual(sold);
    expect(await quantityNow(ordered)).toBe(3);
  });

  it('sells the last piece to an order that is sent twice at once', async () => {
    const twice = ['a', 'a'].map((id) => order(id, repeated));
    expect(await Promise.all(twice)).toEqual([sold, sold]);
    expect(await order('a', repeated)).toEqual(sold);
  });

  it.each<[string, Fate, bigint, [number, string], [number, string]]>([
    ['whose response was lost', 'responseLost', last, refused, sold],
    ['that never arrived', 'lost', never, sold, refused],
  ])('knows who has the last piece after an update %s', async (_, fate, petId, second, again) => {
    fateOfUpdates = fate;
    expect(await order('first', petId)).toEqual(unknown);
    fateOfUpdates = 'passed';
    expect(await order('second', petId)).toEqual(second);
    expect(await order('first', petId)).toEqual(again);
    expect(await quantityNow(petId)).toBe(0);
  });

  it('says that nothing was sold if the service refuses, and why in its log', async () => {
    const readOnly = await startShop(target.readOnlyApiKey);
    const message = 'Nothing was sold. Please try again.';
    expect(await order('a', shown, readOnly)).toEqual([503, message]);
    readOnly.stop();
  });

  it('refuses pets that are not for sale or unknown', async () => {
    for (const petId of [onHold, soldOut]) expect(await order('a', petId)).toEqual(refused);
    expect(await order('a', target.fixtures.missingPetId)).toEqual(refused);
    for (const path of ['orders/a/x', 'orders/a b/7', 'orders/7', 'server.ts']) {
      expect((await fetch(`${shop.address}/${path}`, { method: 'PUT' })).status).toBe(404);
      expect((await fetch(`${shop.address}/${path}`)).status).toBe(404);
    }
  });
});

describe.runIf(findChromium())('the shop’s page', () => {
  let browser: Browser;
  let page: Page;
  /** Everything that the page receives, and where from. */
  const received: Promise<string>[] = [];

  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage();
    page.on('response', (response) => {
      const text = response.text().catch(() => '');
      received.push(text.then((body) => `${response.url()} ${body}`));
    });
    await page.clock.install();
    await page.goto(shop.address);
    await cardOf(shown).waitFor();
  });
  afterAll(() => browser?.close());

  const cardOf = (id: bigint) =>
    page.locator('li', { has: page.getByRole('heading', { name: `Pet ${id}`, exact: true }) });
  const buttonOf = (id: bigint) => cardOf(id).getByRole('button');
  const textOf = async (id: bigint) => (await cardOf(id).innerText()).split(/\s*\n\s*/).slice(0, 3);

  it('shows the stock of every pet, and sold out as such', async () => {
    expect(await page.locator('li').count()).toBe(fixtures.inventory.length);
    expect(await textOf(shown)).toEqual([`Pet ${shown}`, 'available', '3 in stock']);
    expect((await textOf(soldOut)).slice(0, 2)).toEqual([`Pet ${soldOut}`, 'sold out']);
    expect((await textOf(onHold)).slice(0, 2)).toEqual([`Pet ${onHold}`, 'on hold']);
    const buttons = [shown, onHold, soldOut].map((id) => buttonOf(id).isEnabled());
    expect(await Promise.all(buttons)).toEqual([true, false, false]);
  });

  it('sells the last piece once to a customer who tries again after a lost response', async () => {
    fateOfUpdates = 'responseLost';
    await buttonOf(lastShown).click();
    await cardOf(lastShown).getByText('may or may not have happened').waitFor();
    fateOfUpdates = 'passed';
    // The server reads the stock again, and the customer reloads the page.
    await setTimeout(REFRESH + 100);
    await page.reload();
    await cardOf(lastShown).getByText('sold out').waitFor();
    await buttonOf(lastShown).click();
    await cardOf(lastShown).getByText('It is yours.').waitFor();
    expect(await buttonOf(lastShown).isEnabled()).toBe(false);
    expect(await quantityNow(lastShown)).toBe(0);
  });

  it('takes two clicks at once for one order', async () => {
    await buttonOf(doubled).dblclick();
    await cardOf(doubled).getByText('It is yours.').waitFor();
    await cardOf(doubled).getByText('4 in stock').waitFor();
    expect(await quantityNow(doubled)).toBe(4);
  });

  it('keeps the keyboard’s focus when the list changes, also when the pet is sold out', async () => {
    await buttonOf(focused).focus();
    await page.keyboard.press('Enter');
    await cardOf(focused).getByText('sold out').waitFor();
    const focus = cardOf(focused).locator('button:focus');
    expect(await focus.count()).toBe(1);
    expect(await order('another', shown)).toEqual(sold);
    await page.clock.fastForward(5_000);
    await cardOf(shown).getByText('2 in stock').waitFor();
    expect(await focus.count()).toBe(1);
  });

  it('keeps its list, and says so, while the stock cannot be read', async () => {
    await page.route('**/stock.json', (route) => route.abort());
    await page.clock.fastForward(5_000);
    await page.getByText('The stock may be out of date.').waitFor();
    expect(await page.locator('li').count()).toBe(fixtures.inventory.length);
    await page.unroute('**/stock.json');
    await page.clock.fastForward(5_000);
    await page.getByText('The stock may be out of date.').waitFor({ state: 'detached' });
  });

  it('calls only its own server, and never sees the key', async () => {
    const all = (await Promise.all(received)).join('\n');
    expect(all).toContain('/stock.json');
    expect(all.match(/^https?:.*$/gm)?.filter((line) => !line.startsWith(shop.address))).toEqual(
      [],
    );
    expect(all).not.toMatch(/psk_/);
  });

  it('fits a phone, and axe finds nothing, light and dark', async () => {
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.evaluate(axe.source);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target}`)).toEqual([]);
    }
  });
});
