import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type KeyCost, toKeyCosts } from '../../../infra/ops/costs/keyCosts.ts';
import { runForecast } from '../../../infra/ops/costs/runByKey.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { changedSettings, changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { describeStack, useAws } from '../ops/aws.ts';
import { callOps, defineCommand, listNames, toScreen } from '../ops/opsProcess.ts';

const runCosts = defineCommand('costs');
const november = '--from 2026-11-01 --to 2026-11-30';

type Row = Readonly<Record<string, string>>;
const functionLog = '/aws/lambda/petstore-production-';
const accessLog = '/aws/apigateway/petstore-production';

const toLine = (operation: string, status: string, keyName: string, sums: Row): Row => ({
  ...{ operation, status, ...(keyName && { keyName }), ...sums },
});
const toReport = (operation: string, sums: Row): Row => ({
  ...{ '@log': `123456789012:${functionLog}${operation}`, type: 'platform.report' },
  ...sums,
});
const toAccess = (request: string, status: string, functionStatus: string, sums: Row): Row => {
  const [method = '', route = ''] = request.split(' ');
  return { method, route, status, functionStatus, ...sums };
};

/** Rows as Logs Insights returns them: all text, without sums of nothing. */
const functionRows: readonly Row[] = [
  toLine('getPet', '200', 'storefront', {
    ...{ lines: '3000000', milliseconds: '3.0E7', readUnits: '1500000' },
  }),
  toLine('getPet', '200', 'warehouse', {
    ...{ lines: '1000000', milliseconds: '30000000', readUnits: '500000' },
  }),
  toLine('getPet', '401', '', { lines: '10000', milliseconds: '20000' }),
  toLine('updateInventory', '412', 'warehouse', {
    ...{ lines: '1000', milliseconds: '15000', readUnits: '1000', writeUnits: '1000' },
  }),
  // 60,300,000 ms with 512 MB.
  toReport('getPet', { lines: '4010010', billed: '30873600000', traced: '40000' }),
  toReport('updateInventory', { lines: '1000', billed: '7680000', traced: '0' }),
];
const pet = 'GET /pets/{petId}';
const accessRows: readonly Row[] = [
  toAccess(pet, '200', '200', { lines: '4000000', sent: '1200000000' }),
  toAccess(pet, '401', '200', { lines: '10000', sent: '1000000' }),
  toAccess(pet, '502', '200', { lines: '10', sent: '800', milliseconds: '280000' }),
  toAccess(pet, '429', '-', { lines: '3000', sent: '240000' }),
  toAccess(pet, '429', '-', { lines: '2000', sent: '160000' }),
  toAccess('OPTIONS /pets/{petId}', '204', '200', { lines: '2000', sent: '0' }),
  toAccess('PATCH /inventory/{petId}', '412', '200', { lines: '1000', sent: '80000' }),
];

/** The ingested bytes of each log. */
const logBytes: Readonly<Record<string, number>> = {
  [`${functionLog}getPet`]: 3_609_009_000,
  [`${functionLog}updateInventory`]: 900_000,
  [`${functionLog}listOrders`]: 2_000,
  [accessLog]: 1_607_204_000,
};

// All of November's logs exist, and August's are gone.
const december = Date.UTC(2026, 11, 5, 12);
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: december }));
afterEach(() => void vi.useRealTimers());

/** A fake AWS with production's metrics and logs, and the command on them. */
async function open({
  functions = functionRows,
  access = accessRows,
  /** A factor for the bytes of every log. */
  volume = 1,
  /** The final status of a query. */
  status = 'Complete',
  /** The number of log lines that a query found. */
  recordsMatched = 0,
} = {}) {
  const rows: Readonly<Record<string, readonly Row[]>> = { functions, access };
  /** Queries that are not ready at the first poll. */
  const running = new Set<unknown>(Object.keys(rows));
  const aws = await useAws({
    ...describeStack('petstore-production'),
    GetMetricData: ({ MetricDataQueries }) => ({
      // In two parts, like values of several days.
      MetricDataResults: (MetricDataQueries as { Label: string }[]).map(({ Label }) => {
        const bytes = volume * (logBytes[Label] ?? 0);
        return { Label, Values: [bytes / 4, (3 * bytes) / 4] };
      }),
    }),
    StartQuery: ({ logGroupNames }) => ({
      queryId: String(logGroupNames).includes('apigateway') ? 'access' : 'functions',
    }),
    GetQueryResults({ queryId }) {
      const unready = queryId === 'access' ? 'Scheduled' : 'Running';
      if (running.delete(queryId)) return { status: unready, results: [] };
      const toFields = (row: Row) =>
        Object.entries(row).map(([field, value]) => ({ field, value }));
      const statistics = { recordsMatched };
      return { status, statistics, results: rows[String(queryId)]?.map(toFields) };
    },
  });
  const run = (line: string, region = 'us-east-1', typed?: string, command = runCosts) =>
    callOps(command, line.split(' '), { ...aws.variables, AWS_REGION: region }, typed);
  return { aws, run };
}

/** The head of a response, from the recorded 304, which has only a head. */
const HEAD_BYTES = 558;
const GIGABYTE = 2 ** 30;

it('calculates each key’s cost as by hand, and divides shared costs', async () => {
  const { run } = await open();
  const document = JSON.parse((await run(`by-key ${november} --json`)).stdout);
  const rows: readonly KeyCost[] = document.months[0].keys;
  const calls = 3e6 / 4_010_010;
  const worked: readonly Partial<KeyCost['dollars']>[] = [
    // getPet by storefront.
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
    // Ten calls that crashed after 28 s each.
    { lambda: 10 * 0.2e-6 + 280 * 0.5 * 0.0000133334 },
    // A call that wrote a line, and ended on another day.
    { logs: (2_000 / GIGABYTE) * 0.5 },
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
  const lines = keys.map((key) => toLine('getPet', '200', key, { lines: '1' }));
  const functions = [...lines, toReport('getPet', { lines: '3', billed: '3072000' })];
  const costs = toKeyCosts({ functions, access: [] }, new Map(), fixtures.production);
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
  const [cost] = toKeyCosts({ functions: [], access }, new Map(), stage);
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
// Ten plain updates, with one unit each, and twenty with a key, with four.
const updates = toLine('updateInventory', '200', 'storefront', { lines: '60', writeUnits: '180' });
const withLists = { access: [...accessRows, ...lists], functions: [...functionRows, updates] };
const sales = [
  toLine('adjustInventory', '200', 'warehouse', { lines: '50000' }),
  toLine('adjustInventory', '409', 'warehouse', { lines: '500' }),
  toLine('updateInventory', '200', 'warehouse', { lines: '10000' }),
];
/** Twenty days of November, of a stage with 60,000 sales in them. */
const sold = { functions: [...functionRows, ...sales], now: Date.UTC(2026, 10, 21, 0, 5) };
const many = Array.from({ length: 10_000 }, () => ({ lines: '1' }));
const dear = { volume: 50 };
const empty = { functions: [], access: [], volume: 0 };

interface Situation extends NonNullable<Parameters<typeof open>[0]> {
  readonly now?: number;
  readonly region?: string;
  /** What is typed at the question. */
  readonly answer?: string;
  /** The accepted months of a forecast. */
  readonly accepted?: Readonly<Record<string, number>>;
  readonly budget?: StageSettings['budget'];
}
const limits = { maxIncreaseDollars: 5, maxIncreasePercent: 10 };
const budget = { ...changedSettings.budget, monthlyDollars: 50 };
/** What is typed, and what is unusual; `byKey.txt` has what each prints. */
const situations: readonly (readonly [line: string, about?: string, situation?: Situation])[] = [
  [`by-key ${november}`],
  [`by-key ${november} --json`],
  ['by-key --from 2026-10-30 --to 2026-11-02'],
  ['by-key --from 2026-11-01 --to 2026-11-15'],
  ['by-key --from 2026-12-01 --to 2026-12-31', 'on 5 December', empty],
  ['by-key --from 2026-08-01 --to 2026-09-10', 'on 5 December', empty],
  ['by-key --from 2026-09-07 --to 2026-09-10', 'on 5 December', empty],
  ['by-key --from 2026-09-05 --to 2026-09-06', 'on 5 December', empty],
  ['by-key --from 2026-12-05 --to 2026-12-05', 'on 5 December', empty],
  ['by-key --from 2027-01-01 --to 2027-01-31', 'on 5 December', empty],
  ['by-key --from 2026-12-01 --to 2026-11-30', 'backwards', empty],
  [`by-key ${november}`, 'with 50 times the bytes', dear],
  [`by-key ${november}`, 'with 50 times the bytes, and no', { ...dear, answer: 'n\n' }],
  [`by-key ${november}`, 'with 50 times the bytes, and yes', { ...dear, answer: 'y\n' }],
  [`by-key ${november} --yes`, 'with 50 times the bytes', dear],
  [`by-key ${november}`, 'with many rows', { functions: many, recordsMatched: 12_345 }],
  [`by-key ${november}`, 'with a query that does not complete', { status: 'Timeout' }],
  [`by-key ${november}`, 'in a region without prices', { region: 'il-central-1' }],
  [`measure ${november}`, 'with lists and updates', withLists],
  ['measure --from 2026-11-01 --to 2026-11-15', 'with lists and updates', withLists],
  ['measure --from 2026-12-01 --to 2026-12-31', 'on 5 December', empty],
  ['forecast', 'within the limits', { ...sold, accepted: { production: 41 }, budget }],
  ['forecast', 'past the limits', { ...sold, accepted: { production: 30 }, budget }],
  ['forecast', 'without an accepted month', sold],
  ['forecast --by-key', 'without an accepted month', sold],
  ['forecast --by-key --json', 'without an accepted month', sold],
  ['forecast', 'on 1 December', { ...sold, now: Date.UTC(2026, 11, 1) }],
];

it('prints a table or a line in each situation, after what the queries cost', async () => {
  const screens = [];
  const queries = new Set<string>();
  for (const [line, about, situation = {}] of situations) {
    const { now = december, region, answer, accepted = {}, budget, ...logs } = situation;
    vi.setSystemTime(now);
    const { aws, run } = await open(logs);
    const stage = changeProduction({ ...limits, ...(budget && { budget }) });
    const json = line.endsWith('--json');
    const typed = { stage, json, 'by-key': line.includes('--by-key') };
    const forecast = () => runForecast(typed, accepted);
    const command = line.startsWith('forecast') ? forecast : runCosts;
    const outcome = await run(line, region, answer, command);
    const stdout = json ? listNames(JSON.parse(outcome.stdout)) : outcome.stdout;
    const shown = { ...outcome, stdout };
    screens.push(toScreen(['costs', line, ...(about ? [`# ${about}`] : [])], shown));
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
  ).toMatchFileSnapshot('byKey.txt');
});
