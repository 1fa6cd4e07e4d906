import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chartsFolder } from '../../../infra/costs/charts/charts.ts';
import { palettes } from '../../../infra/costs/charts/palette.ts';
import { runCosts } from '../../../infra/costs/runCosts.ts';
import { findChromium, launchChromium } from '../../browser/chromium.ts';
import { callOps } from '../ops/opsProcess.ts';

const names = ['operations.svg', 'month.svg'];
const folder = mkdtempSync(join(tmpdir(), 'charts-'));
afterAll(() => rmSync(folder, { recursive: true }));

const readChart = (name: string) => readFileSync(join(folder, 'new', name), 'utf8');

beforeAll(async () => {
  const { status, stdout, stderr } = await callOps(runCosts, ['--charts', join(folder, 'new')]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(names.map((name) => `${join(folder, 'new', name)}\n`).join(''));
});

test('the command draws two charts', () => {
  expect(readdirSync(join(folder, 'new')).sort()).toEqual([...names].sort());
});

describe.each(names)('%s', (name) => {
  test('is what the model says now; `npm run units` draws it anew', async () => {
    await expect(readChart(name)).toMatchFileSnapshot(new URL(name, chartsFolder).pathname);
  });

  test('tells its numbers to who sees no picture', () => {
    const chart = readChart(name);
    expect(chart).toMatch(/<svg [^>]*role="img" aria-labelledby="title desc"/);
    expect(chart).toMatch(/<title id="title">[^<]{10,}<\/title>/);
    expect(chart).toMatch(/<desc id="desc">[^<]*\$\d+\.\d\d;[^<]+<\/desc>/);
  });

  test('loads nothing', () => {
    expect(readChart(name)).not.toMatch(/href|url\(|@import|<script/);
  });
});

describe.each(Object.entries(palettes))('in the %s scheme', (_, { page, grid: _grid, ...inks }) => {
  test.each(Object.entries(inks))('%s stands out from the page as text must', (_, ink) => {
    expect(toContrast(ink, page)).toBeGreaterThanOrEqual(4.5);
  });
});

test('contrast is reckoned as by WCAG', () => {
  expect(toContrast('#ffffff', '#000000')).toBeCloseTo(21, 5);
  expect(toContrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

describe.skipIf(!findChromium())('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test.each(names)('no text of %s is cut, or lies on another', async (name) => {
    const page = await browser.newPage();
    await page.setContent(readChart(name));
    const boxes = await page.locator('text').evaluateAll((texts) =>
      texts.map((text) => {
        const { x, y, width, height } = (text as unknown as { getBBox(): Box }).getBBox();
        return { text: text.textContent, left: x, right: x + width, top: y, bottom: y + height };
      }),
    );
    await page.close();
    expect(boxes.length).toBeGreaterThan(10);
    expect(boxes.filter(({ left, right }) => left < 0 || right > 720)).toEqual([]);
    const overlapping = boxes.flatMap((one, index) =>
      boxes
        .slice(index + 1)
        .filter(
          (other) =>
            one.left < other.right &&
            other.left < one.right &&
            one.top < other.bottom - 3 &&
            other.top < one.bottom - 3,
        )
        .map((other) => [one.text, other.text]),
    );
    expect(overlapping).toEqual([]);
  });
});

type Box = Readonly<Record<'x' | 'y' | 'width' | 'height', number>>;

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function toContrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [toLuminance(one), toLuminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function toLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const share = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
