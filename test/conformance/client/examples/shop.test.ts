import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../../../infra/local/engine/loopback.ts';
import { projectRoot } from '../../../../infra/stages/projectRoot.ts';
import { axeSource, findChromium, openChromium } from '../../../support/chromium.ts';
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
const [lastShown = 0n, focused = 0n, doubled = 0n, repeated = 0n, one = 0n, other = 0n] = more;

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
    [one, 20],
    [other, 20],
  ];
  for (const [petId, quantity] of quantities) {
    await sendUpdate(target, petId, `{"quantity":${quantity}}`);
  }
  network = await startProxy(target.baseUrl, ({ method }) =>
    method === 'POST' ? fateOfUpdates : 'passed',
  );
  shop = await startShop();
});
afterAll(async () => {
  shop?.stop();
  network?.close();
  await target?.close();
});

/** Starts a shop, which knows nothing of earlier ones. */
async function startShop(
  API_KEY = target.apiKey,
  BASE_ADDRESS = network.baseUrl,
): Promise<typeof shop> {
  const file = join(projectRoot, 'shared/client/examples/shop/server.ts');
  const child = spawn(process.execPath, [file], {
    env: {
      ...process.env,
      BASE_ADDRESS,
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

type Outcome = [status: number, message: string];

async function call(
  method: string,
  path: string,
  body?: unknown,
  { address } = shop,
): Promise<Outcome> {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(`${address}/orders/${path}`, init);
  const { message } = (await response.json()) as { message: string };
  return [response.status, message];
}

type Lines = readonly (readonly [petId: bigint, pieces: number])[];
const toBody = (lines: Lines) => lines.map(([petId, pieces]) => [`${petId}`, pieces]);
const buy = (id: string, lines: Lines, from = shop) => call('PUT', id, toBody(lines), from);
const giveBack = (id: string, lines: Lines) => call('PUT', id, toBody(lines));
const cancel = (id: string) => call('DELETE', id);
const order = (id: string, petId: bigint, from = shop) => buy(id, [[petId, 1]], from);

const sold: Outcome = [200, 'It is yours.'];
const refused: Outcome = [409, 'It is not for sale.'];
const unknown: Outcome = [503, expect.stringContaining('may or may not have happened')];
const returned: Outcome = [200, 'It is back.'];
const notReturned: Outcome = [409, 'It cannot be returned.'];
const cancelled: Outcome = [200, 'It is cancelled.'];
const notCancelled: Outcome = [409, 'It cannot be cancelled.'];
const gone: Outcome = [409, 'It was returned or cancelled.'];

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
    const twice = ['last', 'last'].map((id) => order(id, repeated));
    expect(await Promise.all(twice)).toEqual([sold, sold]);
    expect(await order('last', repeated)).toEqual(sold);
  });

  it.each<[string, Fate, bigint, Outcome, Outcome]>([
    ['whose response was lost', 'responseLost', last, refused, sold],
    ['that never arrived', 'lost', never, sold, refused],
  ])('knows who has the last piece after a request %s', async (_, fate, petId, second, again) => {
    fateOfUpdates = fate;
    expect(await order(`${fate}-1`, petId)).toEqual(unknown);
    fateOfUpdates = 'passed';
    expect(await order(`${fate}-2`, petId)).toEqual(second);
    expect(await order(`${fate}-1`, petId)).toEqual(again);
    expect(await quantityNow(petId)).toBe(0);
  });

  const stock = async () => [await quantityNow(one), await quantityNow(other)];
  const restock = async () => {
    for (const petId of [one, other]) await sendUpdate(target, petId, '{"quantity":20}');
  };

  it('sells a cart whole, with lines of the same pet added up, or not at all', async () => {
    await restock();
    const lines: Lines = [
      [one, 2],
      [other, 1],
      [one, 1],
    ];
    expect(await buy('cart-1', lines)).toEqual(sold);
    expect(await buy('cart-1', lines.toReversed())).toEqual(sold);
    expect(await stock()).toEqual([17, 19]);
    expect(
      await buy('cart-2', [
        [one, 9],
        [other, 1],
        [one, 9],
      ]),
    ).toEqual(refused);
    expect(await stock()).toEqual([17, 19]);
  });

  it('takes back what the customer has, once for each return, and cancels the rest', async () => {
    await restock();
    const id = 'returns';
    expect(await giveBack(`${id}/returns/1`, [[one, 1]])).toEqual(notReturned);
    expect(await cancel(id)).toEqual(notCancelled);
    expect(
      await buy(id, [
        [one, 3],
        [other, 2],
      ]),
    ).toEqual(sold);
    // Two equal returns are two; one that is sent again is one.
    for (const path of ['1', '2', '2']) {
      expect(await giveBack(`${id}/returns/${path}`, [[one, 1]])).toEqual(returned);
    }
    expect(await stock()).toEqual([19, 18]);
    expect(
      await giveBack(`${id}/returns/3`, [
        [one, 1],
        [one, 1],
      ]),
    ).toEqual(notReturned);
    expect(await cancel(id)).toEqual(cancelled);
    expect(await cancel(id)).toEqual(cancelled);
    expect(await stock()).toEqual([20, 20]);
    expect(await giveBack(`${id}/returns/4`, [[one, 1]])).toEqual(notReturned);
    expect(
      await buy(id, [
        [one, 3],
        [other, 2],
      ]),
    ).toEqual(gone);
    expect(await stock()).toEqual([20, 20]);
  });

  it.each<Fate>(['responseLost', 'lost'])(
    'asks for the outcome of a step before it does another: %s',
    async (fate) => {
      await restock();
      const id = `unsure-${fate}`;
      fateOfUpdates = fate;
      expect(await buy(id, [[one, 2]])).toEqual(unknown);
      fateOfUpdates = 'passed';
      // The cart of the first request is sent, which another one must not hide.
      expect(await buy(id, [[one, 5]])).toEqual(sold);
      expect(await stock()).toEqual([18, 20]);
      fateOfUpdates = fate;
      expect(await giveBack(`${id}/returns/1`, [[one, 1]])).toEqual(unknown);
      fateOfUpdates = 'passed';
      expect(await cancel(id)).toEqual(cancelled);
      expect(await stock()).toEqual([20, 20]);
    },
  );

  it('cancels an order without a known outcome, and puts back only what was sold', async () => {
    await restock();
    fateOfUpdates = 'lost';
    expect(await buy('unsure', [[one, 21]])).toEqual(unknown);
    fateOfUpdates = 'passed';
    expect(await cancel('unsure')).toEqual(notCancelled);
    expect(await stock()).toEqual([20, 20]);
  });

  it('says that nothing has changed if the service refuses, and why in its log', async () => {
    const readOnly = await startShop(target.readOnlyApiKey);
    const message = 'Nothing has changed. Please try again.';
    expect(await order('a', shown, readOnly)).toEqual([503, message]);
    readOnly.stop();
  });

  it('refuses pets that are not for sale or unknown, and what is no cart', async () => {
    for (const petId of [onHold, soldOut]) expect(await order(`r${petId}`, petId)).toEqual(refused);
    expect(await order('missing', target.fixtures.missingPetId)).toEqual(refused);
    for (const body of [[], {}, null, [['x', 1]], [['7', 0]], [['7', 0.5]], [['7', '1']], [7]]) {
      expect(await call('PUT', 'a', body)).toEqual([400, 'There is no cart.']);
    }
    const long = `${'[["7",1]'},${' '.repeat(200_000)}["8",1]]`;
    const response = await fetch(`${shop.address}/orders/a`, { method: 'PUT', body: long });
    expect(response.status).toBe(400);
    for (const path of ['orders/a b', 'orders/a/returns', 'orders', 'server.ts']) {
      expect((await fetch(`${shop.address}/${path}`, { method: 'PUT' })).status).toBe(404);
      expect((await fetch(`${shop.address}/${path}`)).status).toBe(404);
    }
  });

  it('remembers neither refused orders nor more than 1,000', async () => {
    const refusal = '{"code":"not_found","message":"No.","status":404}';
    const service = createServer(({ headers }, response) => {
      const isRefused = `${headers['idempotency-key']}`.startsWith('order-refused');
      response.writeHead(isRefused ? 404 : 200).end(isRefused ? refusal : '{"entries":[]}');
    });
    const baseUrl = `http://127.0.0.1:${await listen(service, 0, '')}/v1`;
    const small = await startShop(target.apiKey, baseUrl);
    const putAll = async (start: string, count: number) => {
      for (let index = 0; index < count; index += 50) {
        const ids = Array.from({ length: 50 }, (_, more) => `${start}-${index + more}`);
        await Promise.all(ids.map((id) => order(id, one, small)));
      }
    };
    expect(await order('first', one, small)).toEqual(sold);
    await putAll('other', 900);
    await putAll('refused', 150);
    // Twice: a cancelled order is remembered too.
    for (const _ of [1, 2]) {
      expect(await call('DELETE', 'first', undefined, small)).toEqual(cancelled);
    }
    await putAll('more', 100);
    expect(await call('DELETE', 'first', undefined, small)).toEqual(notCancelled);
    small.stop();
    service.close();
  });

  it.each(['shop.example', '127.0.0.1.shop.example', 'localhost.shop.example:80', '192.168.0.1'])(
    'has no page and sells nothing under another name: %s',
    async (host) => {
      const { port } = new URL(shop.address);
      for (const [method, path] of [
        ['GET', '/'],
        ['GET', '/stock.json'],
        ['PUT', '/orders/host'],
      ]) {
        const options = { port, method, path, headers: { Host: host } };
        const sent = request(options).end(toBody([[one, 1]]).toString());
        const [{ statusCode }] = await once(sent, 'response');
        expect(statusCode).toBe(421);
      }
    },
  );

  it('is there under the names of its own machine', async () => {
    const { port } = new URL(shop.address);
    for (const name of ['localhost', '127.0.0.1', '[::1]']) {
      const sent = request({ port, headers: { Host: `${name}:${port}` } }).end();
      const [{ statusCode }] = await once(sent, 'response');
      expect(statusCode).toBe(200);
    }
  });

  it.each(['/', '/shop.js', '/stock.json', '/nothing'])(
    'allows only its own scripts, and no guess of a type: %s',
    async (path) => {
      const { headers } = await fetch(shop.address + path);
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      const policy = headers.get('Content-Security-Policy');
      expect(policy).toContain("default-src 'self'");
      expect(policy).not.toMatch(/unsafe|\*/);
    },
  );
});

describe.runIf(findChromium())('the shop’s page', () => {
  let page: Page;
  /** Everything that the page receives, and where from. */
  const received: Promise<string>[] = [];

  beforeAll(async () => {
    page = await (await openChromium()).newPage();
    page.on('response', (response) => {
      const text = response.text().catch(() => '');
      received.push(text.then((body) => `${response.url()} ${body}`));
    });
    await page.clock.install();
    await page.goto(shop.address);
    await cardOf(shown).waitFor();
  });
  afterAll(() => page?.close());

  const cardOf = (id: bigint) =>
    page.locator('#pets li', {
      has: page.getByRole('heading', { name: `Pet ${id}`, exact: true }),
    });
  const buttonOf = (id: bigint) => cardOf(id).getByRole('button');
  const textOf = async (id: bigint) => (await cardOf(id).innerText()).split(/\s*\n\s*/).slice(0, 3);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).first().click();
  const newest = () => page.locator('#orders li').first();
  const isDisabled = async (id: bigint) =>
    (await buttonOf(id).getAttribute('aria-disabled')) === 'true';

  it('shows the stock of every pet, and sold out as such', async () => {
    expect(await page.locator('#pets li').count()).toBe(fixtures.inventory.length);
    expect(await textOf(shown)).toEqual([`Pet ${shown}`, 'available', '3 in stock']);
    expect((await textOf(soldOut)).slice(0, 2)).toEqual([`Pet ${soldOut}`, 'sold out']);
    expect((await textOf(onHold)).slice(0, 2)).toEqual([`Pet ${onHold}`, 'on hold']);
    const disabled = [shown, onHold, soldOut].map(isDisabled);
    expect(await Promise.all(disabled)).toEqual([false, true, true]);
  });

  it('sells a cart, takes a piece back and cancels the rest', async () => {
    for (const id of [doubled, doubled, shown]) await buttonOf(id).click();
    await page.getByText(`Cart: 2 × pet ${doubled}, 1 × pet ${shown}`).waitFor();
    await press('Buy');
    await newest().getByText('It is yours.').waitFor();
    await page.getByText('The cart is empty.').waitFor();
    await cardOf(doubled).getByText('3 in stock').waitFor();
    await press(`Return one: pet ${doubled}`);
    await newest().getByText('It is back.').waitFor();
    await cardOf(doubled).getByText('4 in stock').waitFor();
    await press('Cancel');
    await newest().getByText('It is cancelled.').waitFor();
    await cardOf(doubled).getByText('5 in stock').waitFor();
    expect([await quantityNow(doubled), await quantityNow(shown)]).toEqual([5, 3]);
    expect(await newest().getByRole('button').count()).toBe(0);
  });

  it('sells the last piece once to a customer who tries again after a lost response', async () => {
    fateOfUpdates = 'responseLost';
    await buttonOf(lastShown).click();
    await press('Buy');
    await newest().getByText('may or may not have happened').waitFor();
    fateOfUpdates = 'passed';
    // The server reads the stock again, and the customer reloads the page.
    await setTimeout(REFRESH + 100);
    await page.reload();
    await cardOf(lastShown).getByText('sold out').waitFor();
    await press('Try again');
    await newest().getByText('It is yours.').waitFor();
    expect(await quantityNow(lastShown)).toBe(0);
  });

  it('takes two clicks at once for one order', async () => {
    await buttonOf(doubled).click();
    await page.getByRole('button', { name: 'Buy', exact: true }).dblclick();
    await newest().getByText('It is yours.').waitFor();
    await cardOf(doubled).getByText('4 in stock').waitFor();
    expect(await quantityNow(doubled)).toBe(4);
  });

  it('keeps the keyboard’s focus when the list changes, also when the pet is sold out', async () => {
    await buttonOf(focused).focus();
    await page.keyboard.press('Enter');
    expect(await isDisabled(focused)).toBe(true);
    expect(await order('focused', focused)).toEqual(sold);
    await page.clock.fastForward(5_000);
    await cardOf(focused).getByText('sold out').waitFor();
    expect(await cardOf(focused).locator('button:focus').count()).toBe(1);
    await press('Empty the cart');
  });

  it('keeps its list, and says so, while the stock cannot be read', async () => {
    await page.route('**/stock.json', (route) => route.abort());
    await page.clock.fastForward(5_000);
    await page.getByText('The stock may be out of date.').waitFor();
    expect(await page.locator('#pets li').count()).toBe(fixtures.inventory.length);
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
    await page.evaluate(axeSource);
    // The schemes differ only in colours, which these two rules read.
    for (const [colorScheme, options] of [
      ['light', {}],
      ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<axe.AxeResults>(
        `axe.run(${JSON.stringify({ ...options, resultTypes: ['violations'] })})`,
      );
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.target}`)).toEqual([]);
    }
  });
});
