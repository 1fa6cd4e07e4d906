import type axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readCommittedTraffic } from '../../../../infra/costs/bills/traffic.ts';
import { withMetrics } from '../../../../infra/costs/costOptions.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { axeSource, findChromium, openChromium } from '../../../support/chromium.ts';
import { changedSettings, fixtures } from '../../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { callOps, changeSettings, defineCommand } from '../../ops/opsProcess.ts';
import { account, type Line, makeBill, places, times, toTime, writeBill } from './bills.ts';
import { openLogs, toAccess, toLine, toReport } from './logs.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 5, 12) });
  return () => void vi.useRealTimers();
});

/** Two months with all that a page can show: free tier, discount, credit, tax, a busy week, a price, and another service. */
async function makeLines(): Promise<Line[]> {
  const production = await withMetrics(fixtures.production);
  const traffic = readCommittedTraffic();
  const busy = {
    ...traffic,
    shares: traffic.shares.map((one) => ({ ...one, requests: 1.12 * one.requests })),
  };
  const lines = makeBill(production, places[0], '2026-11', busy).flatMap((line): Line[] => {
    const day = Number(line.from.slice(8, 10));
    const factor = 1 + 0.08 * Math.sin(day) + (day > 7 && day < 15 ? 0.3 : 0);
    const isDaily = Date.parse(line.end) - Date.parse(line.from) === 86_400_000;
    const own = { ...(isDaily ? times(line, factor) : line), discount: 0.09 };
    if (line.usageType.endsWith('-CW:AlarmMonitorUsage')) {
      return [{ ...times(own, 0.08), cost: 0, list: 0 }, times(own, 0.92)];
    }
    return [line.usageType.endsWith('WriteRequestUnits') ? { ...own, cost: 1.07 * own.cost } : own];
  });
  const month = {
    from: toTime('2026-11', 1),
    end: toTime('2026-11', 31),
    region: '',
    usageType: '',
    quantity: 0,
    account,
    tags: {},
  };
  return [
    ...['2026-08', '2026-09', '2026-10'].flatMap((name, index) =>
      makeBill(production, places[0], name).map((line) => times(line, 0.7 + 0.1 * index)),
    ),
    ...lines,
    { ...month, kind: 'Tax', service: 'AmazonApiGateway', cost: 8.1 },
    { ...month, kind: 'Credit', service: 'AWSLambda', cost: -5 },
    {
      ...month,
      kind: 'Usage',
      service: 'AmazonS3',
      usageType: 'TimedStorage-ByteHrs',
      region: 'us-east-1',
      quantity: 20,
      cost: 0.46,
      tags: { stage: 'production', service: 'petstore' },
    },
  ];
}

/** Requests of three shops with all operations. */
const keys = ['storefront-web', 'warehouse', 'till-berlin <b>"&amp;'];
const requests = [
  'GET /pets/{petId}',
  'POST /inventory/adjustments',
  'GET /inventory',
  'GET /store/orders',
  'PATCH /inventory/{petId}',
];
const operations = [
  'getInventoryEntry',
  'adjustInventory',
  'listInventory',
  'listOrders',
  'updateInventory',
];
const logs = {
  functions: operations.flatMap((id, index) => [
    ...keys.map((key, place) =>
      toLine(id, '200', key, {
        lines: `${Math.round(1_200_000 / (index + 1) / (place + 1) ** 2)}`,
        milliseconds: '9000000',
        readUnits: '500000',
      }),
    ),
    toReport(id, { lines: `${1_600_000 / (index + 1)}`, billed: '9000000000', traced: '9000' }),
  ]),
  access: requests.map((one, index) =>
    toAccess(one, '200', '200', {
      lines: `${Math.round(1_633_000 / (index + 1))}`,
      sent: '900000000',
    }),
  ),
};

async function writePage(withLogs = true): Promise<string> {
  changeSettings(stages.production, { budget: { ...changedSettings.budget, monthlyDollars: 70 } });
  const aws = withLogs ? (await openLogs(logs)).variables : {};
  const path = await writeBill(folder, 'cur.parquet', await makeLines());
  const { stdout } = await callOps(runCosts, ['report', '2026-11', path], {
    ...aws,
    AWS_REGION: 'us-east-1',
  });
  return stdout;
}

it('is one file that loads nothing, with the verdict as its first sentence', async () => {
  const page = await writePage();
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(|https?:/);
  expect(page).toContain('<h1>Production cost $');
  expect(page).toContain('till-berlin &lt;b&gt;&quot;&amp;amp;');
  // A thousand sales cost the same wherever the page says it.
  const [, ofSales] = /<dt>A thousand sales<\/dt><dd>(\$[\d.]+)/.exec(page) ?? [];
  expect(page.split(`${ofSales}<`).length).toBeGreaterThan(2);
  expect(page.length).toBeLessThan(60_000);
});

describe.runIf(findChromium())('in a browser', () => {
  let page: Page;
  beforeAll(async () => {
    page = await (await openChromium()).newPage();
  });
  afterAll(() => page?.close());

  it('fits a desk and a phone, light and dark, and axe finds nothing', async () => {
    await page.setContent(await writePage());
    await page.evaluate(axeSource);
    for (const [width, height] of [
      [1280, 900],
      [375, 812],
    ] as const) {
      await page.setViewportSize({ width, height });
      // The schemes differ only in colours, which these two rules read.
      for (const [colorScheme, options] of [
        ['light', {}],
        ['dark', { runOnly: ['color-contrast', 'link-in-text-block'] }],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        const { violations } = await page.evaluate<axe.AxeResults>(
          `axe.run(${JSON.stringify({ ...options, resultTypes: ['violations'] })})`,
        );
        expect(
          violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => `${target}`)]),
        ).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    }
  });

  it.each([true, false])('prints on two sheets of A4 (with logs: %s)', async (withLogs) => {
    await page.setContent(await writePage(withLogs));
    await page.emulateMedia({ colorScheme: 'dark' });
    const pdf = await page.pdf({ format: 'A4', preferCSSPageSize: true });
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)).toHaveLength(2);
  });
});
