import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import {
  parseTraffic,
  readCommittedTraffic,
  sumRequests,
} from '../../../../infra/costs/bills/traffic.ts';
import { readAccepted } from '../../../../infra/costs/checkMonths.ts';
import { type KeyCost, priceKeys } from '../../../../infra/costs/report/keyCosts.ts';
import type { StageSettings } from '../../../../infra/stages/stageSettings.ts';
import { stages } from '../../../../infra/stages/stages.ts';
import { changedSettings, changeProduction, fixtures } from '../../../support/stageFixtures.ts';
import { callOps, defineCommand, toScreen } from '../../ops/opsProcess.ts';
import {
  accessRows,
  functionRows,
  logBytes,
  openLogs,
  toAccess,
  toLine,
  toReport,
} from './logs.ts';

const runCosts = defineCommand('costs');

// All of November's logs exist, and August's are gone.
const december = Date.UTC(2026, 11, 5, 12);
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: december }));
afterEach(() => void vi.useRealTimers());

/** The command on such logs. */
async function open(logs: Parameters<typeof openLogs>[0] = {}) {
  const aws = await openLogs(logs);
  const run = (line: string, region = 'us-east-1', typed?: string) =>
    callOps(runCosts, line.split(' '), { ...aws.variables, AWS_REGION: region }, typed);
  return { aws, run };
}

/** The head of a response, from the recorded 304, which has only a head. */
const HEAD_BYTES = 592;
const GIGABYTE = 2 ** 30;

it('calculates each key’s cost as by hand, and divides shared costs', async () => {
  const rows: readonly KeyCost[] = priceKeys(
    { functions: functionRows, access: accessRows },
    new Map(Object.entries(logBytes)),
    fixtures.production,
  );
  const calls = 3e6 / 4_010_010;
  const worked: readonly Partial<KeyCost['dollars']>[] = [
    // listOrders by storefront.
    {
      gateway: 3 * 3.5,
      // Its share of all calls, and the logged part of 60,300,000 ms with half a GB.
      lambda: 4_010_010 * calls * 0.2e-6 + 30_000 * 0.5 * 0.0000133334,
      readUnits: 1.5 * 0.125,
      writeUnits: 0,
      transfer: ((0.75 * 1.2e9 + 3e6 * HEAD_BYTES) / GIGABYTE) * 0.09,
      // The function's 900 bytes a call, and the gateway's 400 a line.
      logs: ((3e6 * 900 + 3e6 * (1_607_204_000 / 4_018_010)) / GIGABYTE) * 0.5,
      tracing: 40_000 * calls * 5e-6,
      firewall: 0,
    },
    // updateInventory by warehouse. A failed conditional write is billed too.
    { writeUnits: 1_000 * 0.625e-6, readUnits: 1_000 * 0.125e-6 },
    {},
    // What the gateway allowed.
    { gateway: 2_000 * 3.5e-6 },
    // A call that wrote a line, and ended on another day.
    { logs: (2_000 / GIGABYTE) * 0.5 },
    // Ten calls that crashed after 28 s each.
    { lambda: 10 * 0.2e-6 + 280 * 0.5 * 0.0000133334 },
    // Without a valid key, and refused by the gateway.
    { readUnits: 0 },
    { gateway: 0, lambda: 0, transfer: ((400_000 + 5_000 * HEAD_BYTES) / GIGABYTE) * 0.09 },
  ];
  for (const [row, dollars] of worked.entries()) {
    const close = Object.entries(dollars).map(([name, sum]) => [name, expect.closeTo(sum, 9)]);
    expect(rows[row]?.dollars).toMatchObject(Object.fromEntries(close));
  }
});

it('divides by number, or equally without any measure', () => {
  // The scheduled check's key takes its part, and has no row.
  const keys = ['a', 'b', 'check'];
  const lines = keys.map((key) => toLine('listOrders', '200', key, { lines: '1' }));
  const functions = [...lines, toReport('listOrders', { lines: '3', billed: '3072000' })];
  const costs = priceKeys({ functions, access: [] }, new Map(), fixtures.production);
  const each = expect.closeTo(0.2e-6 + 0.0000133334, 12);
  expect(costs.map(({ dollars }) => dollars.lambda)).toEqual([each, each]);
});

const further = { lines: '399999990', furtherRequests: '10', streamedBytes: '1073741824' };
const million = { lines: '1000000' };
const steps = { gateway: 333 * 3.5 + 67 * 2.8, lambda: 0.008, firewall: 0 };
it.each([
  ['further requests of long responses, by the steps of the price', further, '200', '200', steps],
  ['a 429 of a function', million, '429', '429', { gateway: 3.5, lambda: 0, firewall: 0 }],
  ['a refusal of the gateway', million, '429', '-', { gateway: 0, lambda: 0, firewall: 0.6 }],
] as const)('charges for %s', (_, sums, status, functionStatus, dollars) => {
  const access = [toAccess('GET /inventory', status, functionStatus, sums)];
  const stage = changeProduction({ firewall: dollars.firewall > 0 });
  const [cost] = priceKeys({ functions: [], access }, new Map(), stage);
  const close = Object.entries(dollars).map(([name, sum]) => [name, expect.closeTo(sum, 9)]);
  expect(cost?.dollars).toMatchObject(Object.fromEntries(close));
});

const lists = [
  ['GET /inventory', '200', '1300000'],
  ['GET /inventory', '304', '7'],
  ['PATCH /inventory/{petId}', '200', '30'],
  ['PATCH /inventory/{petId}', '413', '3'],
  ['POST /inventory/adjustments', '200', '1000'],
  ['POST /inventory/adjustments', '409', '50'],
].map(([request = '', status = '', lines = '']) => toAccess(request, status, '200', { lines }));
// The scheduled check's requests are a part of the fixed costs.
const ofCheck = toAccess('GET /inventory', '200', '200', { lines: '8640', isCheck: '1' });
const withLists = { access: [...accessRows, ...lists, ofCheck] };

it.each([
  [Date.UTC(2026, 11, 5), 1],
  [Date.UTC(2026, 10, 16), 2],
])('measures the traffic as of a whole month, for --traffic', async (now, factor) => {
  vi.setSystemTime(now);
  const { run } = await open(withLists);
  const { traffic } = JSON.parse((await run('report 2026-11 --json')).stdout);
  const accepted = readCommittedTraffic();
  /** What the gateway's log does not tell apart, in the mix of the accepted traffic. */
  const mixRequests = (operation: string, requests: number) => {
    const shares = accepted.shares.filter(
      ({ operationId, response }) => operationId === operation && response.startsWith('200'),
    );
    const all = sumRequests({ shares });
    return Object.fromEntries(
      shares.map(({ response, requests: own }) => {
        const kind = response === '200' ? '' : ` ${response}`;
        return [`${operation}${kind}`, (requests * own) / all];
      }),
    );
  };
  const month = {
    ...{
      listOrders: 4_000_010,
      'listOrders 401': 10_000,
      'listOrders 429': 5_000,
      'updateInventory 412': 1_000,
    },
    ...mixRequests('listInventory', 1_300_000),
    ...{ 'listInventory 304': 7, updateInventory: 30 },
    ...mixRequests('adjustInventory', 1_000),
    ...{ 'updateInventory 400': 3, 'adjustInventory 409': 50 },
  };
  const expected = Object.entries(month).map(([name, requests]) => [
    name,
    Math.round(factor * requests),
  ]);
  expect(traffic.file).toEqual({
    entries: accepted.entries,
    requests: Object.fromEntries(expected),
  });
  expect(parseTraffic(JSON.stringify(traffic.file)).shares).toHaveLength(expected.length);
});

const sales = [
  toLine('adjustInventory', '200', 'warehouse', { lines: '50000' }),
  toLine('adjustInventory', '409', 'warehouse', { lines: '500' }),
  toLine('updateInventory', '200', 'warehouse', { lines: '10000' }),
];
/** Twenty days of November, of a stage with 60,000 sales in them. */
const sold = { functions: [...functionRows, ...sales], now: Date.UTC(2026, 10, 21, 0, 5) };
const many = Array.from({ length: 10_000 }, () => ({ lines: '1' }));
const dear = { volume: 50 };
const limits = { maxIncreaseDollars: 5, maxIncreasePercent: 10 };

interface Situation extends NonNullable<Parameters<typeof openLogs>[0]> {
  readonly now?: number;
  readonly region?: string;
  /** What is typed at the question. */
  readonly answer?: string;
  readonly settings?: Partial<StageSettings>;
}
/** What is unusual; `logs.txt` has what is said and written, and when. */
const situations: Readonly<Record<string, Situation & { readonly typed?: string }>> = {
  'the running month': sold,
  'within the limits and a budget': {
    ...sold,
    settings: {
      ...limits,
      maxIncreasePercent: 1_000,
      maxIncreaseDollars: 1_000,
      budget: { ...changedSettings.budget, monthlyDollars: 50 },
    },
  },
  'the first of a month, on the month before': { ...sold, now: Date.UTC(2026, 11, 1) },
  'logs that are deleted in part': {
    functions: [],
    access: [],
    volume: 0,
    typed: 'report 2026-09',
  },
  'logs that are deleted': { typed: 'report 2026-08' },
  'fifty times the bytes': dear,
  'fifty times the bytes, and no': { ...dear, answer: 'n\n' },
  'fifty times the bytes, and yes': { ...dear, answer: 'y\n' },
  'fifty times the bytes, and --yes': { ...dear, typed: 'report 2026-11 --json --yes' },
  'many rows': { functions: many, recordsMatched: 12_345 },
  'a query that does not complete': { status: 'Timeout' },
  'a region without prices': { region: 'il-central-1' },
};

it('says in each situation what the queries cost, and what the month will', async () => {
  const screens: string[] = [];
  const queries = new Set<string>();
  for (const [about, situation] of Object.entries(situations)) {
    const {
      now = december,
      region,
      answer,
      typed = 'report 2026-11 --json',
      settings = limits,
      ...logs
    } = situation;
    vi.setSystemTime(now);
    const before = stages.production.settings;
    Object.assign(stages.production, { settings: { ...before, ...settings } });
    const { aws, run } = await open(logs);
    const outcome = await run(typed.includes('--json') ? typed : `${typed} --json`, region, answer);
    Object.assign(stages.production, { settings: before });
    const {
      verdict,
      forecast,
      sales,
      customers = [],
    } = outcome.stdout ? JSON.parse(outcome.stdout) : {};
    // The accepted month is a team's own.
    const { accepted, ...ofForecast } = forecast ?? {};
    if (forecast) expect(accepted).toBe(readAccepted().production);
    const found = verdict && {
      ...{ verdict, forecast: ofForecast, sales: sales.count, perThousand: sales.full },
    };
    const rows = customers.map(
      (one: object) =>
        `${Object.values(one)
          .map((value) => (typeof value === 'number' ? Number(value.toFixed(4)) : value))
          .join('  ')}\n`,
    );
    const stdout = found ? `${JSON.stringify(found, null, 2)}\n${rows.join('')}` : outcome.stdout;
    screens.push(toScreen(['costs', typed, `# ${about}`], { ...outcome, stdout }));
    const toTime = (seconds: unknown) => new Date(Number(seconds) * 1_000).toISOString();
    const asked = aws.inputsOf('StartQuery').map(({ startTime, endTime, ...query }) => {
      queries.add(JSON.stringify(query, null, 2));
      return `A query from ${toTime(startTime)} to ${toTime(endTime)}`;
    });
    if (asked.length > 0) screens.push(`${asked.sort().join('\n')}\n`);
  }
  screens.push('The queries', ...[...queries].sort());
  await expect(
    screens.join('\n'),
    'commit what `npx vitest run test/infra/costs --update` writes',
  ).toMatchFileSnapshot('logs.txt');
});
