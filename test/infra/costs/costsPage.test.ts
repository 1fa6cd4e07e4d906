import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCommittedTraffic } from '../../../infra/costs/bills/traffic.ts';
import { fillCostsPage, pageFile } from '../../../infra/docs/facts/costsPage.ts';
import { useTestStages } from './testStages.ts';

useTestStages();

const traffic = readCommittedTraffic();
const page = readFileSync(pageFile, 'utf8');

test("finance's page says what the model says now; `npm run units` writes it anew", async () => {
  await expect(fillCostsPage(page, traffic)).toMatchFileSnapshot(pageFile.pathname);
});

test('every number of the model in it is marked', () => {
  const marks = [...page.matchAll(/<!-- ([\w ]+) -->/g)].map(([, name]) => name);
  expect(marks.filter((name) => name !== 'end')).toEqual(
    'requests,requests chart,month,month chart,fixed,worst month'.split(','),
  );
  expect(marks.filter((name) => name === 'end')).toHaveLength(6);
});

test('a mark that nothing fills is named', () => {
  expect(() => fillCostsPage('<!-- nothing -->\n<!-- end -->', traffic)).toThrow('"nothing"');
});
