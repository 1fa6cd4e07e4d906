import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeHtml } from '../../../infra/docs/markdown.ts';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { type LocalStage, startLocalStage } from '../../../infra/local/localStage.ts';
import { findChromium, openChromium } from '../../support/chromium.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { keepLogs } from '../../support/keepLogs.ts';
import {
  brokenByScalar,
  desk,
  findViolations,
  measureOverflow,
  phone,
  watchPage,
} from '../../support/pageChecks.ts';
import { defineFreshFunctions } from '../localTarget.ts';

const petId = 9223372036854775807n;

let stage: LocalStage;
beforeAll(async () => {
  keepLogs();
  // The same quantity as in the reference's sample update, so that the tag filled in there matches.
  const inventory = [{ petId, quantity: 9, status: 'available' as const }];
  const data = { inventory, pets: [], orders: [] };
  const loadModule = defineFreshFunctions();
  stage = await startLocalStage({ port: 0, startEngine: startEmbeddedEngine, data, loadModule });
});
afterAll(() => stage?.close());

const served = {
  status: 200,
  'content-type': 'text/html; charset=utf-8',
  // A page cannot say in itself who may frame it.
  'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
};
// The gateway responds for paths that the documentation does not have.
const unknown = { status: 404, 'content-type': 'application/json' };
const refused = { status: 403, 'content-type': 'application/json' };
const foreign = { Host: 'petstore.example:3000' };

test.each<[string, object, Record<string, string>?]>([
  ['GET /docs/', served],
  ['HEAD /docs/index.html', served],
  ['GET /docs/', served, { Host: '[::1]:3000' }],
  ['GET /docs', { status: 302, location: '/docs/' }],
  ['POST /docs/', { status: 405, allow: 'GET, HEAD' }],
  ['GET /docs/nothing.html', unknown],
  ['GET /v1/docs/', unknown],
  ['GET /docs/selling.md', { status: 200, 'content-type': 'text/markdown; charset=utf-8' }],
  ['GET /docs/shop.ts', { status: 200, 'content-type': 'text/plain; charset=utf-8' }],
  ['GET /', { status: 302, location: '/docs/' }],
  ['GET /v1', unknown],
  // A foreign name may point here to read the key.
  ['GET /docs/', refused, foreign],
  ['GET /', refused, foreign],
])('the stage responds to %s with %o', async (line, expected, headers = {}) => {
  const [method = '', path] = line.split(' ');
  const { origin } = new URL(stage.baseUrl);
  const response = await exactFetch(origin + path, { method, headers });
  const { status } = response;
  expect({ status, ...Object.fromEntries(response.headers) }).toMatchObject(expected);
  if (expected === served && method === 'GET') {
    const call = `Authorization: Bearer ${stage.apiKey}' |\n  curl -H @- '${stage.baseUrl}/`;
    expect(decodeHtml(response.text.replaceAll(/<[^>]*>/g, ''))).toContain(call);
  }
});

test('browsers keep only the file that has a hash in its name', async () => {
  const { text } = await exactFetch(`${stage.documentationAddress}/reference.js`);
  const [script] = /scalar-\w+\.js/.exec(text) ?? [];
  const { headers } = await exactFetch(`${stage.documentationAddress}/${script}`);
  expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
});

// `npm run pages` opens the others. All tests share one page, in this order: loading the reference takes a second of
// processor time.
describe.skipIf(findChromium() === undefined)('in a browser', () => {
  let page: Page;
  let reported: string[];

  beforeAll(async () => {
    const browser = await openChromium();
    const context = await browser.newContext({ reducedMotion: 'reduce', viewport: desk });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    reported = watchPage(page, new URL(stage.baseUrl).origin);
  });
  afterAll(() => page?.context().close());

  const open = (name: string) => page.goto(`${stage.documentationAddress}/${name}.html`);
  const findButton = (name: string) => page.getByRole('button', { name, exact: true });
  const findHeading = (name: string) => page.getByRole('heading', { name });
  const findInMenu = (name: string) =>
    page.locator('.site').getByRole('link', { name, exact: true });

  async function expectAccessible(ignored?: readonly string[]): Promise<void> {
    for (const scheme of ['light', 'dark'] as const) {
      expect(await findViolations(page, scheme, ignored), `${page.url()} ${scheme}`).toEqual([]);
    }
  }

  /** The languages of the samples that a page shows. */
  async function readShown(): Promise<string[]> {
    const shown = await page.locator('.samples .sample:visible code').all();
    const names = await Promise.all(shown.map((one) => one.getAttribute('class')));
    return names.map((name) => name?.replace('language-', '') ?? '');
  }

  const choose = (name: string) => page.locator('.samples label', { hasText: name });

  test('a language that is chosen in one sample is shown in all, here and on the next page', async () => {
    await open('index');
    expect(await readShown()).toEqual(['sh', 'sh']);
    await choose('Python').last().click();
    expect(await readShown()).toEqual(['python', 'python']);
    await page.keyboard.press('ArrowLeft');
    expect(await readShown()).toEqual(['ts', 'ts']);
    await choose('Python').first().click();
    await open('lists');
    // A sample without it shows its first language.
    expect(new Set(await readShown())).toEqual(new Set(['sh', 'python']));
  });

  test.each([
    ['without a script', true],
    ['in a browser that stores nothing', false],
  ])('the chosen language is shown in all samples of a page %s', async (_, isScriptless) => {
    const denied = await page.addInitScript(
      `Object.defineProperty(window, 'localStorage', { get: () => { throw new Error('denied'); } })`,
    );
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setScriptExecutionDisabled', { value: isScriptless });
    await open('index');
    expect((await page.locator('.sample button').count()) === 0).toBe(isScriptless);
    expect(await readShown()).toEqual(['sh', 'sh']);
    await choose('TypeScript').last().click();
    expect(await readShown()).toEqual(['ts', 'ts']);
    await session.detach();
    await denied.dispose();
  });

  test('a button copies the sample above which it is, and selects it where there is no clipboard', async () => {
    const code = await page.locator('.sample:visible code').first().textContent();
    await findButton('Copy').first().click();
    await findButton('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code?.trimEnd());
    await page.evaluate('delete Navigator.prototype.clipboard');
    await findButton('Copied').click();
    await findButton('Selected').waitFor();
    expect(await page.evaluate('getSelection().toString().trim()')).toBe(code?.trimEnd());
  });

  test('a search finds the page on a subject first', async () => {
    const loads: string[] = [];
    page.on('request', (request) => loads.push(request.url()));
    const box = page.getByRole('searchbox');
    const first = page.locator('.results a').first();
    await page.keyboard.press('/');
    await page.keyboard.type('xylophone/');
    await page.getByText('Nothing found').waitFor();
    expect(await box.inputValue()).toBe('xylophone/');
    for (const [word, address] of [
      ['atomic', 'selling.html'],
      ['cors', 'index.html#api-keys'],
      ['duplicate order', 'selling.html'],
      ['image', 'selling.html#where-stock-pets-and-orders-come-from'],
      ['install', 'client.html#install'],
      ['overselling', 'selling.html'],
      ['polling', 'lists.html#only-when-it-has-changed'],
      // The texts have it in another form.
      ['decrements', 'selling.html'],
    ] as const) {
      await box.fill(word);
      await expect.poll(() => first.getAttribute('href')).toBe(address);
    }
    expect(loads.filter((url) => url.endsWith('/search.json'))).toHaveLength(1);
  });

  test('arrow keys go through the results of a search, and Escape goes back to its box', async () => {
    const box = page.getByRole('searchbox');
    await box.fill('precondition fail');
    const results = page.locator('.results a');
    await results.nth(1).waitFor();
    await expectAccessible();
    for (const [keys, focused] of [
      [['ArrowDown', 'ArrowDown'], results.nth(1)],
      [['ArrowUp', 'ArrowUp'], box],
      [['ArrowUp'], results.last()],
      [['Escape'], box],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      expect(await focused.evaluate((one) => one.matches(':focus')), keys.join()).toBe(true);
    }
    expect(await results.count()).toBe(0);
  });

  test('two seconds later, the button offers to copy again', async () => {
    await findButton('Selected').waitFor({ state: 'detached' });
  });

  test('the menu is at the side of a wide guide, and folded on a phone, which the guide fits', async () => {
    const link = findInMenu('Errors');
    expect(await link.isVisible()).toBe(true);
    await page.setViewportSize(phone);
    // The browser tells the page of its width with the next frame.
    await link.waitFor({ state: 'hidden' });
    expect(await measureOverflow(page)).toBe(0);
    await page.getByText('Pages', { exact: true }).click();
    await link.click();
    await page.waitForURL('**/errors.html');
  });

  test('the reference shows its operations at once, and opens where its reader was', async () => {
    // The next test loads Scalar's 4 MB.
    const body = 'globalThis.Scalar = { createApiReference() { document.title = "opened"; } };';
    const stub = { body, contentType: 'text/javascript' };
    await page.route('**/scalar-*.js', (route) => route.fulfill(stub), { times: 1 });
    await open('reference');
    expect(await page.title()).not.toBe('opened');
    const heading = findHeading('listOrders: List the orders');
    await heading.evaluate((one) => one.scrollIntoView());
    await expect.poll(() => page.title()).toBe('opened');
    expect(new URL(page.url()).hash).toBe('#tag/orders/GET/store/orders');
  });

  test('a search finds an operation, which the reference opens on a phone, and axe finds nothing of ours', async () => {
    await open('index');
    expect(await findInMenu('Errors').isVisible()).toBe(false);
    const box = page.getByRole('searchbox');
    await box.fill('updateInventory');
    await box.press('Enter');
    await findButton('Test Request (patch /inventory/{petId})').waitFor();
    await expect.poll(() => findHeading('Set the stock count').isVisible()).toBe(true);
    expect(await measureOverflow(page)).toBe(0);
    await expectAccessible(brokenByScalar);
    // An operation is longer than a screen: lines around it are no help.
    const lines = 'getComputedStyle(document.activeElement).outlineStyle';
    const focused = page.locator('section:focus-visible');
    await focused.waitFor({ state: 'attached' });
    expect(await page.evaluate(lines)).toBe('none');
    const back = page.getByRole('link', { name: '← Guides' });
    for (const size of [desk, phone]) {
      await page.setViewportSize(size);
      await expect.poll(() => page.evaluate('scrollY')).toBeGreaterThan(size.height);
      expect((await back.boundingBox())?.y).toBeGreaterThanOrEqual(0);
      await back.click({ trial: true });
    }
    // The class names of Scalar and of style.css must not meet.
    const displays = `[...document.querySelectorAll('#content p a')].map((a) => getComputedStyle(a).display)`;
    expect(new Set(await page.evaluate<string[]>(displays))).toEqual(new Set(['inline']));
    const guides = page.getByRole('link', { name: 'The documentation' });
    expect(await guides.getAttribute('href')).toBe(`${stage.documentationAddress}/`);
  });

  test('an id of 19 digits is sent and shown exactly, with the prefilled key', async () => {
    await findButton('Test Request (patch /inventory/{petId})').click();
    const address = page.getByRole('button', { name: 'Server: ' });
    // Nothing covers it.
    await address.click({ trial: true, position: { x: 8, y: 8 } });
    const field = page
      .getByRole('row')
      .filter({ has: page.getByLabel('Include petId in request') });
    await field.getByLabel('Value').last().click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(String(petId));
    expect(await send()).toEqual([`${stage.baseUrl}/inventory/${petId}`, `Bearer ${stage.apiKey}`]);
    const response = page.getByRole('region', { name: 'Response' });
    await response.getByText('200 OK').waitFor();
    await response.getByText(`"petId": ${petId},`).waitFor();
    await page.keyboard.press('Escape');
  });

  test('a typed key is sent without optional parameters, and stored nowhere', async () => {
    await page.getByPlaceholder('Token').first().fill(stage.readKey);
    await findButton('Test Request (get /inventory)').click();
    expect(await send()).toEqual([`${stage.baseUrl}/inventory`, `Bearer ${stage.readKey}`]);
    const kept = await page.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie,
      await indexedDB.databases(), await caches.keys(),
    ]))()`);
    expect(kept).toBe('[{"language":"python"},{},"",[],[]]');
  });

  async function send(): Promise<[url: string, authorization: string | null]> {
    const sent = page.waitForRequest(/\/v1\//);
    await page.getByRole('button', { name: 'Send' }).first().click();
    const request = await sent;
    return [request.url(), await request.headerValue('Authorization')];
  }

  test('no test made a request to another server or a browser error', () => {
    expect(reported).toEqual([]);
  });
});
