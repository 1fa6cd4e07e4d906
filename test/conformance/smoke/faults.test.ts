import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtures } from '../fixtures.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';
import { type Front, startFront } from './front.ts';
import { accessFaults } from './planted/accessFaults.ts';
import { listFaults } from './planted/listFaults.ts';
import { commonFaults, otherFaults } from './planted/otherFaults.ts';
import { pageFaults } from './planted/pageFaults.ts';
import type { PlantedFaults } from './planted/spoil.ts';
import { smoke } from './smokeRun.ts';

const others = Object.entries(otherFaults);
/** Five at a time, of different rows, so that a smoke test names them all; the last alone. */
const planted = [
  ...group([
    Object.entries(listFaults),
    Object.entries(pageFaults),
    Object.entries(accessFaults),
    others.slice(0, others.length / 2),
    others.slice(others.length / 2),
  ]),
  ...group([Object.entries(commonFaults)]),
];

describe('a stage with a fault', () => {
  let target: ConformanceTarget;
  let front: Front;

  beforeAll(async () => {
    const { pets, orders } = fixtures;
    target = await openLocalTarget({
      data: { inventory: fixtures.inventory.slice(0, 9), pets, orders },
    });
    front = await startFront(target.baseUrl);
  });

  afterAll(async () => {
    front?.close();
    await target?.close();
  });

  it.each(planted)('fails, and the rows are named: $name', async ({ faults, reports }) => {
    const { apiKey } = target;
    front.fault = {
      ask(asked) {
        for (const { ask } of faults) ask?.(asked);
      },
      answer(asked, given) {
        for (const { answer } of faults) answer?.(asked, given);
      },
    };
    const run = await smoke({ baseUrl: front.baseUrl, apiKey, entry: '9007199254740993' });
    for (const report of reports) expect(run.failures.join('\n')).toContain(report);
    expect(run.failures.length).toBeLessThanOrEqual(5 * faults.length);
    expect(run.passed).toBe(false);
    expect(run.text).not.toContain(apiKey.slice(4, 30));
  });

  it('fails in every row, when only the first page is as it should be', async () => {
    const { apiKey } = target;
    front.fault = {
      answer({ path }, answer) {
        if (path !== '/inventory?limit=1000') answer.status = 418;
      },
    };
    const settings = { baseUrl: front.baseUrl, apiKey, entry: '1', isVerbose: true };
    const { text } = await smoke(settings);
    expect(text.match(/^passed .*/gm)).toEqual([
      'passed   listInventory: answers pages of at most 1,000 entries, each with three members',
    ]);
    expect(text.match(/^failed /gm)?.length).toBeGreaterThan(40);
  });

  it.each(['an id rounded wherever it is answered', 'entries without their tags'])(
    'writes nothing to an entry that it cannot be sure of: %s',
    async (name) => {
      const { apiKey } = target;
      [front.fault] = pageFaults[name] ?? [{}];
      front.exchanges.length = 0;
      await smoke({ baseUrl: front.baseUrl, apiKey, entry: '9007199254740993' });
      expect(front.exchanges.filter((one) => one.startsWith('PATCH'))).not.toEqual([]);
      expect(front.exchanges.filter((one) => /^PATCH .* 200$/.test(one))).toEqual([]);
    },
  );

  it('passes without one', async () => {
    front.fault = {};
    const { passed, text } = await smoke({ baseUrl: front.baseUrl, apiKey: target.apiKey });
    expect(text).toMatch(/^\d+ rows passed, 0 failed, \d+ skipped; \d+ requests in \d+ s\.$/m);
    expect(passed).toBe(true);
  });
});

/** Each of the longest with those at the same place of the others. */
function group(columns: readonly [string, PlantedFaults[string]][][]) {
  return Array.from({ length: Math.max(...columns.map(({ length }) => length)) }, (_, index) => {
    const together = columns.flatMap((column) => column.slice(index, index + 1));
    return {
      name: together.map(([name]) => name).join('; '),
      faults: together.map(([, [fault]]) => fault),
      reports: together.map(([, [, report]]) => report),
    };
  });
}
