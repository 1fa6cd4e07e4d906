import type axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guideNames } from '../../../infra/docs/guide.ts';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { type LocalStage, startLocalStage } from '../../../infra/local/localStage.ts';
import { axeSource, findChromium, openChromium } from '../../support/chromium.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { keepLogs } from '../../support/keepLogs.ts';
import { defineFreshFunctions } from '../localTarget.ts';

const petId = 9223372036854775807n;
const phone = { width: 375, height: 800 };
// So low that the menu at the side scrolls.
const desk = { width: 1280, height: 720 };

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
  ['GET /docsx', unknown],
  ['GET /v1/docs/', unknown],
  ['GET /', unknown],
  // A foreign name may point here to read the key.
  ['GET /docs/', refused, foreign],
  ['GET /', unknown, foreign],
])('the stage responds to %s with %o', async (line, expected, headers = {}) => {
  const [method = '', path] = line.split(' ');
  const { origin } = new URL(stage.baseUrl);
  const response = await exactFetch(origin + path, { method, headers });
  const { status } = response;
  expect({ status, ...Object.fromEntries(response.headers) }).toMatchObject(expected);
  if (expected === served && method === 'GET') {
    const call = `Authorization: Bearer ${stage.apiKey}&#39; |\n  curl -H @- &#39;${stage.baseUrl}/`;
    expect(response.text).toContain(call);
  }
});

test('browsers keep only the file that has a hash in its name', async () => {
  const { text } = await exactFetch(`${stage.documentationAddress}/reference.js`);
  const [script] = /scalar-\w+\.js/.exec(text) ?? [];
  const { headers } = await exactFetch(`${stage.documentationAddress}/${script}`);
  expect(headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable');
});

// All tests share one page, in this order: loading the reference takes a second of processor time.
describe.skipIf(findChromium() === undefined)('in a browser', () => {
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const requests: string[] = [];

  beforeAll(async () => {
    browser = await openChromium();
    const context = await browser.newContext({ reducedMotion: 'reduce' });
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('request', (request) => requests.push(request.url()));
  });
  afterAll(() => page?.context().close());

  async function open(name: string): Promise<void> {
    await page.goto(`${stage.documentationAddress}/${name}.html`);
  }

  async function expectToFit(...sizes: (typeof phone)[]): Promise<void> {
    for (const size of sizes) {
      await page.setViewportSize(size);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
  }

  async function openForm(button: string): Promise<void> {
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('button', { name: 'Send' }).first().waitFor();
  }

  async function fillValue(name: string, value: string): Promise<void> {
    const row = page
      .getByRole('row')
      .filter({ has: page.getByLabel(`Include ${name} in request`) });
    await row.getByLabel('Value').last().click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(value);
  }

  async function send(): Promise<{ url: string; authorization: string | null }> {
    const sent = page.waitForRequest(/\/v1\//);
    await page.getByRole('button', { name: 'Send' }).first().click();
    const request = await sent;
    return { url: request.url(), authorization: await request.headerValue('Authorization') };
  }

  /**
   * Scalar changes its theme after the media, and inherited colours then change one element a frame. axe measures no
   * contrast on a table's shadows.
   */
  async function waitUntilStill(at: Page, colorScheme: 'light' | 'dark'): Promise<void> {
    await at.evaluate(`document.fonts.ready.then(async () => {
      const style = new CSSStyleSheet();
      style.replaceSync('*, ::before, ::after { transition-property: none !important } .wide { background: none !important }');
      document.adoptedStyleSheets = [style];
      const { classList } = document.body;
      const isOther = () => classList.contains('${colorScheme === 'dark' ? 'light' : 'dark'}-mode');
      for (let frames = 0; frames < 2; frames++) {
        await new Promise(requestAnimationFrame);
        if (isOther() || document.getAnimations().length > 0) frames = 0;
      }
    })`);
  }

  /** @param disabled the rules that Scalar's elements break */
  async function expectAccessible(at: Page, ...disabled: string[]): Promise<void> {
    const rules = Object.fromEntries(disabled.map((id) => [id, { enabled: false }]));
    await at.evaluate(axeSource);
    // The schemes differ only in colours.
    for (const [colorScheme, options] of [
      ['light', { rules, resultTypes: ['violations'] }],
      ['dark', { runOnly: ['color-contrast'], resultTypes: ['violations'] }],
    ] as const) {
      await at.emulateMedia({ colorScheme });
      await waitUntilStill(at, colorScheme);
      const { violations } = await at.evaluate<axe.AxeResults>(
        `axe.run(${JSON.stringify(options)})`,
      );
      const found = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target }) => `${id}: ${target}`),
      );
      expect(found, `${at.url()} ${colorScheme}`).toEqual([]);
    }
  }

  test('every guide fits a phone, and axe finds nothing, light and dark', async () => {
    for (const [index, name] of guideNames.entries()) {
      await open(name);
      // Every other guide begins with the size of the one before, since a change renders the whole page again.
      for (const size of index % 2 === 0 ? [desk, phone] : [phone, desk]) {
        await expectToFit(size);
        if (size === phone) await expectAccessible(page);
      }
    }
    await page.setViewportSize(desk);
    await expectAccessible(page);
  });

  test('the feed of changes is XML, whose content is that of the changelog', async () => {
    await open('changelog');
    const entries = await page.evaluate<string[]>(`(async () => {
      const text = await (await fetch('changes.atom')).text();
      const { documentElement: feed } = new DOMParser().parseFromString(text, 'application/xml');
      const toText = (html) => new DOMParser().parseFromString(html, 'text/html').body.textContent;
      return [...feed.querySelectorAll('entry > content')].map((one) => toText(one.textContent));
    })()`);
    const text = await page.locator('.text').textContent();
    expect(entries.length).toBeGreaterThan(1);
    for (const entry of entries) expect(text).toContain(entry);
  });

  test('the costs of requests fit beside the menu', async () => {
    await page.setViewportSize(desk);
    await open('costs');
    const widths = `[...document.querySelectorAll('.wide')].map((one) => one.scrollWidth - one.clientWidth)`;
    expect(await page.evaluate(widths)).toEqual([0]);
  });

  test('the menu is at the side of a wide guide, and folded on a phone', async () => {
    const link = page.locator('.site').getByRole('link', { name: 'Safe updates', exact: true });
    for (const size of [desk, phone]) {
      await page.setViewportSize(size);
      await open('index');
      expect(await link.isVisible()).toBe(size === desk);
      if (size === phone) await page.getByText('Pages', { exact: true }).click();
      await link.click();
      await page.waitForURL('**/updates.html');
    }
    await page.setViewportSize(desk);
  });

  test('a guide prints in dark letters without menus, with all languages, and long lines of code break', async () => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await open('index');
    for (const hidden of ['.site', '.on-page']) {
      expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
    }
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(28, 32, 36)');
    expect(await readShown()).toEqual(['sh', 'ts', 'python', 'sh', 'ts', 'python']);
    const overflow =
      '[...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth)';
    expect(await page.evaluate(`${overflow}.length`)).toBe(0);
    await page.emulateMedia({ media: null, colorScheme: null });
  });

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
    expect(await page.evaluate('document.activeElement.name')).toBe('language-1');
    await expectAccessible(page);
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
    for (const [name, language] of [
      ['Python', 'python'],
      ['curl', 'sh'],
      ['TypeScript', 'ts'],
    ] as const) {
      await choose(name).last().click();
      expect(await readShown()).toEqual([language, language]);
    }
    await session.detach();
    await denied.dispose();
  });

  test('a button copies the sample above which it is, and selects it where there is no clipboard', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('errors');
    expect(await page.locator('pre').count()).toBe(await page.locator('.sample button').count());
    const code = await page.locator('.sample code').first().textContent();
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(code?.trimEnd());
    await page.getByRole('button', { name: 'Copied' }).waitFor({ state: 'detached' });
    await page.evaluate('delete Navigator.prototype.clipboard');
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Selected' }).waitFor();
    expect(await page.evaluate('getSelection().toString().trim()')).toBe(code?.trimEnd());
  });

  test('a search by keyboard finds the page on a subject first', async () => {
    await open('errors');
    await page.keyboard.press('/');
    const box = page.getByRole('searchbox');
    const first = page.locator('.results a').first();
    for (const [word, address] of [
      ['axios', 'generated-clients.html'],
      ['bulk', 'selling.html#a-cart-of-several-pets'],
      ['cart', 'orders.html'],
      ['csv', 'lists.html#the-whole-inventory'],
      ['decrement', 'selling.html'],
      ['delete', 'selling.html#what-may-be-sold'],
      ['refund', 'selling.html#returns-and-cancellations'],
      ['return', 'selling.html#returns-and-cancellations'],
      ['cors', 'index.html#with-which-key'],
      ['health', 'status.html#is-it-up'],
      ['install', 'client.html#install'],
      ['oversell', 'selling.html'],
      ['pagination', 'lists.html#pages'],
      ['polling', 'orders.html#stock-changes'],
      ['reserve', 'orders.html#reservations'],
      ['sandbox', 'index.html#where'],
      ['webhook', 'orders.html'],
    ] as const) {
      await page.keyboard.type(word);
      await expect.poll(() => first.getAttribute('href')).toBe(address);
      await page.keyboard.type('/');
      expect(await box.inputValue()).toBe(`${word}/`);
      await box.fill('');
      await first.waitFor({ state: 'detached' });
    }
  });

  async function expectFocus(at: Locator): Promise<void> {
    expect(await at.evaluate((one) => one.matches(':focus'))).toBe(true);
  }

  test('arrow keys go through the results of a search, and Escape goes back to its box', async () => {
    await open('index');
    let loads = 0;
    await page.route('**/search.json', (route) => {
      loads += 1;
      return route.continue();
    });
    const box = page.getByRole('searchbox');
    await box.fill('retry');
    const results = page.locator('.results a');
    await results.nth(1).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expectFocus(results.nth(1));
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await expectFocus(box);
    await page.keyboard.press('ArrowUp');
    await expectFocus(results.last());
    await page.keyboard.press('Escape');
    await expectFocus(box);
    expect(await results.count()).toBe(0);
    expect(loads).toBe(1);
    await page.unroute('**/search.json');
  });

  test('a search finds sections of the guides and operations of the reference', async () => {
    await open('index');
    const box = page.getByRole('searchbox');
    await box.fill('xylophone');
    await page.getByText('Nothing found').waitFor();
    await box.fill('precondition fail');
    await page.getByRole('link', { name: 'precondition_failed' }).first().waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'precondition_failed' }).first().click();
    await page.waitForURL('**/errors.html#precondition_failed');
    await box.fill('getInventoryEntry');
    await page.getByRole('link', { name: 'Get the stock of one pet' }).first().waitFor();
    await box.press('Enter');
    const heading = page.getByRole('heading', { name: 'Get the stock of one pet' });
    await heading.waitFor();
    await page.getByText('Test Request').first().waitFor();
    await expect.poll(() => heading.isVisible()).toBe(true);
    await box.fill('updateInventory');
    await box.press('Enter');
    await expect
      .poll(() => page.getByRole('heading', { name: 'Set the stock count' }).isVisible())
      .toBe(true);
  });

  test('the reference fits, axe finds nothing of ours, and it links to the guides', async () => {
    await expectToFit(desk);
    await expectAccessible(page, 'button-name', 'nested-interactive');
    // The class names of Scalar and of style.css must not meet.
    const displays = `[...document.querySelectorAll('#content p a')].map((a) => getComputedStyle(a).display)`;
    const sentences = await page.evaluate<string[]>(displays);
    expect(sentences.length).toBeGreaterThan(10);
    expect(new Set(sentences)).toEqual(new Set(['inline']));
    const guides = page.getByRole('link', { name: 'The documentation' });
    expect(await guides.getAttribute('href')).toBe(`${stage.documentationAddress}/`);
  });

  test('an id of 19 digits is sent and shown exactly, with the prefilled key', async () => {
    await page.getByRole('link', { name: 'Set the stock count of one pet' }).first().click();
    await openForm('Test Request (patch /inventory/{petId})');
    await fillValue('petId', String(petId));
    expect(await send()).toEqual({
      url: `${stage.baseUrl}/inventory/${petId}`,
      authorization: `Bearer ${stage.apiKey}`,
    });
    const response = page.getByRole('region', { name: 'Response' });
    await response.getByText('200 OK').waitFor();
    await response.getByText(`"petId": ${petId},`).waitFor();
    await page.keyboard.press('Escape');
  });

  test('a typed key is sent without optional parameters, and stored nowhere', async () => {
    await page.getByPlaceholder('Token').first().fill(stage.readKey);
    await openForm('Test Request (get /inventory)');
    expect(await send()).toEqual({
      url: `${stage.baseUrl}/inventory`,
      authorization: `Bearer ${stage.readKey}`,
    });
    const kept = await page.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie,
      await indexedDB.databases(), await caches.keys(),
    ]))()`);
    expect(kept).toBe('[{"language":"python"},{},"",[],[]]');
  });

  test('the reference shows its operations at once, and opens where its reader was', async () => {
    const early = await page.context().newPage();
    await early.route('**/scalar-*.js', (route) => route.abort());
    await early.goto(`${stage.documentationAddress}/reference.html`);
    await early.getByRole('heading', { name: 'List the orders, newest first' }).waitFor();
    await expectAccessible(early);
    const link = early.locator('.site').getByRole('link', { name: 'Safe updates', exact: true });
    expect(await link.isVisible()).toBe(false);
    await early.getByText('Pages', { exact: true }).click();
    await link.click();
    await early.waitForURL('**/updates.html');
    await early.close();
    await open('reference');
    const scripts = () => requests.filter((url) => url.includes('/scalar-')).length;
    const before = scripts();
    const overview = page.getByRole('heading', { name: 'listOrders: List the orders' });
    await overview.waitFor();
    expect(scripts()).toBe(before);
    // Scalar loads when a reader uses the page, and opens where the reader was.
    await overview.evaluate((heading) => heading.scrollIntoView());
    await page.getByText('Test Request').first().waitFor();
    expect(new URL(page.url()).hash).toBe('#tag/orders/GET/store/orders');
    const heading = page.getByRole('heading', { name: 'List the orders, newest first' });
    const inView = async () => {
      const { y = -1 } = (await heading.boundingBox()) ?? {};
      return y >= 0 && y < desk.height;
    };
    await expect.poll(inView).toBe(true);
    // The key that the test before has typed is gone.
    expect(await page.getByPlaceholder('Token').first().inputValue()).toBe(stage.apiKey);
  });

  test('on a phone, the reference fits, and nothing covers the address of a request', async () => {
    await expectToFit(phone);
    await openForm('Test Request (get /store/orders)');
    const address = page.getByRole('button', { name: 'Server: ' });
    const box = await address.boundingBox();
    const covers = `document.elementFromPoint(${(box?.x ?? 0) + 8}, ${(box?.y ?? 0) + 8})`;
    expect(await page.evaluate(`${covers}.closest('button').textContent`)).toContain(stage.baseUrl);
    await page.getByRole('button', { name: 'Show sidebar' }).click();
  });

  test('no test made a request to another server or a browser error', () => {
    const { origin } = new URL(stage.baseUrl);
    expect(requests.length).toBeGreaterThan(10);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
