import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { renderPage } from '../../../infra/costs/report/page.ts';
import { readBill } from '../../../infra/costs/report/readBill.ts';
import { buildSite } from '../../../infra/docs/buildSite.ts';
import { guideNames } from '../../../infra/docs/guide.ts';
import type { Site } from '../../../infra/docs/page.ts';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { stages } from '../../../infra/stages/stages.ts';
import type { Cell } from '../../bench/report.ts';
import { shownLines, writeParquet } from '../../infra/costs/report/bills.ts';
import { openChromium } from '../../support/chromium.ts';
import {
  brokenByScalar,
  desk,
  findViolations,
  measureOverflow,
  phone,
  watchPage,
} from '../../support/pageChecks.ts';
import { type Findings, makeScratchFolder, runProof } from '../../support/testCommand.ts';

const text = {
  about:
    'Opens every page of the documentation in Chromium, as it is published, and the page on a bill. Fails if axe finds a violation, if a page is wider than a phone or a desk, if its policy is violated, or if it sends a request to another server.',
  options: {},
};

await runProof('pages', text, async () => {
  const browser = await openChromium();
  const site = await buildSite({
    documentationAddress: 'https://docs.shop.example',
    servers: [{ name: 'production', baseUrl: 'https://api.shop.example/v1', purpose: 'sales' }],
    contact: 'api@shop.example',
    statusPage: 'https://status.shop.example',
  });
  const origin = await serve(site);
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  return checkPages(await context.newPage(), origin);
});

async function renderBill(): Promise<string> {
  const path = await writeParquet(`${makeScratchFolder('pages')}/bill.parquet`, 'cur', shownLines);
  return renderPage('production', await readBill([path], stages.production), 12.34, 'us-east-1');
}

/** Without a policy in a header: the pages' own must do. */
async function serve(site: Site): Promise<string> {
  const server = createServer(async ({ url = '' }, response) => {
    const { type, body } = site.get(url.slice(1)) ?? {};
    if (type === undefined) return void response.writeHead(404).end();
    response.setHeader('Content-Type', type);
    response.end(typeof body === 'function' ? await body() : body);
  });
  return `http://127.0.0.1:${await listen(server, 0, '')}`;
}

async function checkPages(page: Page, origin: string): Promise<Findings> {
  const reported = watchPage(page, origin);
  const rows: Cell[][] = [];
  const problems: string[] = [];

  async function check(
    name: string,
    open: () => Promise<unknown>,
    look: typeof checkLayout = checkLayout,
    ignored: readonly string[] = [],
  ) {
    const found: string[][] = [[], [], [], [], []];
    for (const [width, size] of Object.entries({ desk, phone })) {
      await page.setViewportSize(size);
      await open();
      const overflow = await measureOverflow(page);
      const kinds = [
        overflow === 0 ? [] : [`${overflow} px too wide`],
        await findViolations(page, 'light', ignored),
        await findViolations(page, 'dark', ignored),
        await look(page, size === desk),
        reported.splice(0),
      ];
      problems.push(...kinds.flat().map((problem) => `${name}, ${width}: ${problem}`));
      for (const [kind, list] of kinds.entries()) found[kind]?.push(...list);
    }
    rows.push([name, ...found.map(({ length }) => length)]);
  }

  for (const name of [...guideNames, 'reference']) {
    await check(name, () => page.goto(`${origin}/${name}.html`));
  }
  await check(
    'reference, in use',
    () => useReference(page, origin),
    async () => [],
    brokenByScalar,
  );
  await page.goto('about:blank');
  const bill = await renderBill();
  await check('bill', () => page.setContent(bill), checkBill);
  return {
    section: {
      title: 'The pages of the documentation, and of a bill, in Chromium',
      columns: ['page', 'too wide', 'light', 'dark', 'layout', 'browser'],
      rows,
      notes: [
        'light, dark: violations that axe finds; layout: tables that scroll beside the menu, cut or covered lines and cells, and errors on paper;',
        'browser: errors, violations of the policy, and requests to another server.',
      ],
    },
    problems,
  };
}

/** What a wide page or a printed one must not have. */
async function checkLayout(page: Page, isWide: boolean): Promise<string[]> {
  const scrolling = isWide ? await countCut(page, '.wide') : 0;
  const cut = await countCut(page, 'pre');
  const covering = await countButtonsOverCode(page);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const color = await page.evaluate('getComputedStyle(document.body).color');
  const counts = {
    'tables that scroll': scrolling,
    'samples with cut lines': cut,
    'copy buttons over code': covering,
    'menus on paper': await page.locator('.site:visible, .on-page:visible').count(),
    'samples that are not on paper': await page.locator('.sample:not(:visible)').count(),
    'samples with cut lines on paper': await countCut(page, 'pre'),
    'light letters on paper': color === 'rgb(28, 32, 36)' ? 0 : 1,
  };
  await page.emulateMedia({ media: null });
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? `${count} ${what}` : []));
}

async function checkBill(page: Page): Promise<string[]> {
  const cut = await countCut(page, 'th, td');
  const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true });
  const sheets = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length;
  return [
    ...(cut > 0 ? [`${cut} cells that are cut`] : []),
    ...(sheets === 2 ? [] : [`${sheets} sheets of paper, not 2`]),
  ];
}

async function countCut(page: Page, selector: string): Promise<number> {
  return page.evaluate(
    `[...document.querySelectorAll('${selector}')].filter((one) => one.scrollWidth > one.clientWidth).length`,
  );
}

async function countButtonsOverCode(page: Page): Promise<number> {
  return page.evaluate(`[...document.querySelectorAll('.sample button')].filter((button) => {
    const { left, bottom } = button.getBoundingClientRect();
    const code = document.createRange();
    code.selectNodeContents(button.parentElement.querySelector('code'));
    return [...code.getClientRects()].some((line) => line.top < bottom && line.right > left);
  }).length`);
}

/** Scalar loads when the page is used, and renders an operation when it comes into view. */
async function useReference(page: Page, origin: string): Promise<void> {
  await page.goto(`${origin}/reference.html`);
  await page.mouse.wheel(0, 1);
  await page.getByText('Test Request').first().waitFor();
  await page.evaluate(`(async () => {
    while (scrollY + innerHeight < document.documentElement.scrollHeight - 1) {
      scrollBy(0, innerHeight);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })()`);
}
