import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeSource, findChromium, openChromium } from '../../../support/chromium.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { callOps, defineCommand } from '../../ops/opsProcess.ts';
import { dayOf, type Line, makeMonth, ourTags, times, toCharge, writeParquet } from './bills.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();

/** Two months with all that a page can show: doubts, two regions, discounts, credits, tax, and an odd day. */
const lines: readonly Line[] = [
  ...makeMonth(9),
  ...makeMonth().flatMap((line): Line[] => {
    if (dayOf(line) === 13) return [];
    const factor = 1 + 0.1 * Math.sin(dayOf(line));
    const isTrebled = line.usageType.includes('GB-Second') && dayOf(line) >= 20;
    const own = { ...times(line, isTrebled ? 3 : factor), discount: 0.09 };
    return [own, { ...times(own, 0.2), region: 'eu-west-1', account: '210987654321' }];
  }),
  toCharge({ kind: 'Tax', tags: ourTags, cost: 8.1 }),
  toCharge({ kind: 'Tax', account: '999999999999', cost: 12 }),
  toCharge({ kind: 'Credit', cost: -5 }),
  toCharge({ usageType: 'Request-ARM', cost: 3, tags: { app: 'petstore <b>"&amp;' } }),
];

async function writePage(): Promise<string> {
  const path = await writeParquet(folder.toPath('cur.parquet'), 'cur', lines);
  const { stdout, stderr } = await callOps(runCosts, ['report', path]);
  expect(stderr).toMatch(/^production, October 2026: \$\d+\.\d\d paid, 5 doubts\.\n$/);
  return stdout;
}

it('is one file that loads nothing, with the doubts first and then what was paid', async () => {
  const page = await writePage();
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|https?:/);
  expect(page).toContain('petstore &lt;b>');
  expect([...page.matchAll(/<h2>(.*?)<\/h2>/g)].map(([, title]) => title)).toEqual([
    ...['What makes the sum doubtful', 'What was paid', 'A million requests', 'By kind of usage'],
    ...['Odd days', 'By day', 'By account and region'],
  ]);
  const [, requests = ''] =
    /npx petstore costs --stage production --requests (\d+), divided/.exec(page) ?? [];
  const { stdout } = await callOps(runCosts, ['--requests', requests, '--json']);
  const { region, month } = JSON.parse(stdout);
  const dollars = ((1e6 * month.total) / Number(requests)).toFixed(2);
  expect(page).toContain(`By the model, in ${region}</td><td>$${dollars}<`);
  for (const text of [
    '20 October to 31 October',
    'September 2026',
    'tax without our two tags: $12.00 in account 999999999999',
  ]) {
    expect(page).toContain(text);
  }
});

describe.runIf(findChromium())('in a browser', () => {
  let page: Page;
  beforeAll(async () => {
    page = await (await openChromium()).newPage();
  });
  afterAll(() => page?.close());

  it('fits a desk, a phone and paper, light and dark, and axe finds nothing', async () => {
    await page.setContent(await writePage());
    await page.evaluate(axeSource);
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [375, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate<axe.AxeResults>(
        `axe.run({ resultTypes: ['violations'] })`,
      );
      expect(violations.map(({ id, nodes }) => [id, `${nodes[0]?.target}`])).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(
        await page.evaluate(
          '[...document.querySelectorAll("th, td")].every((cell) => cell.scrollWidth <= cell.clientWidth)',
        ),
      ).toBe(true);
    }
    const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(2);
  });
});
