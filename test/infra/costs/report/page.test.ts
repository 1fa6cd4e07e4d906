import { expect, it } from 'vitest';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { callOps, defineCommand } from '../../ops/opsProcess.ts';
import { shownLines, writeParquet } from './bills.ts';

const runCosts = defineCommand('costs');
const folder = openTemporaryFolder();

// `npm run pages` opens it in a browser.
it('is one file that loads nothing, with the doubts first and then what was paid', async () => {
  const path = await writeParquet(folder.toPath('cur.parquet'), 'cur', shownLines);
  const { stdout: page, stderr } = await callOps(runCosts, ['report', path]);
  expect(stderr).toMatch(/^production, October 2026: \$\d+\.\d\d paid, 5 doubts\.\n$/);
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
