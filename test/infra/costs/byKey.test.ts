import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toCostReport } from '../../../infra/costs/bills/costReport.ts';
import { readCommittedTraffic } from '../../../infra/costs/bills/traffic.ts';
import { type KeyCost, toKeyCosts, type toKeyTotals } from '../../../infra/ops/costs/keyCosts.ts';
import { runForecast } from '../../../infra/ops/costs/runByKey.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { changedSettings, changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { describeStack, useAws } from '../ops/aws.ts';
import { callOps, changeSettings, defineCommand, expectRefusal } from '../ops/opsProcess.ts';

const folder = openTemporaryFolder();
const runCosts = defineCommand('costs');
const byKey = (args: string[]) => runCosts(['by-key', ...args]);
const november = ['--stage', 'production', '--from', '2026-11-01', '--to', '2026-11-30'];

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
const ALL_BYTES = 3_609_009_000 + 900_000 + 2_000 + 1_607_204_000;

// Now all of November's logs exist, and August's are gone.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 11, 5, 12) }));
afterEach(() => void vi.useRealTimers());

/** A fake AWS with production's metrics and logs, and the command for its November. */
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
  const variables = { ...aws.variables, AWS_REGION: 'us-east-1' };
  const run = (...args: string[]) => callOps(byKey, [...november, ...args], variables);
  return { aws, variables, run };
}

describe('costs by-key', () => {
  /** The head of a response, from the recorded 304, which has only a head. */
  const HEAD_BYTES = 558;
  const GIGABYTE = 2 ** 30;

  it('calculates each key’s cost as by hand, and divides shared costs', async () => {
    const { run } = await open();
    const document = JSON.parse((await run('--json')).stdout);
    const rows: KeyCost[] = document.months[0].keys;
    expect(rows.map(({ key, operation, requests }) => [key, operation, requests])).toEqual([
      ['storefront', 'getPet', 3_000_000],
      ['warehouse', 'updateInventory', 1_000],
      ['warehouse', 'getPet', 1_000_000],
      ['(allowed by the gateway)', undefined, 2_000],
      ['(no request line)', 'getPet', 10],
      ['(no request line)', 'listOrders', 0],
      ['(no valid key)', 'getPet', 10_000],
      ['(refused by the gateway)', 'getPet', 5_000],
    ]);
    const calls = 3e6 / 4_010_010;
    const sent = 1_201_480_800 + 4_018_010 * HEAD_BYTES;
    const worked: readonly Partial<KeyCost['dollars']>[] = [
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
      // A failed conditional write is billed too.
      { writeUnits: 1_000 * 0.625e-6, readUnits: 1_000 * 0.125e-6 },
      {},
      { gateway: 2_000 * 3.5e-6 },
      // Ten calls that crashed after 28 s each.
      { lambda: 10 * 0.2e-6 + 280 * 0.5 * 0.0000133334 },
      // A call that wrote a line, and ended on another day.
      { logs: (2_000 / GIGABYTE) * 0.5 },
      { readUnits: 0 },
      { gateway: 0, lambda: 0, transfer: ((400_000 + 5_000 * HEAD_BYTES) / GIGABYTE) * 0.09 },
    ];
    for (const [row, dollars] of worked.entries()) {
      const close = Object.entries(dollars).map(([name, sum]) => [name, expect.closeTo(sum, 9)]);
      expect(rows[row]?.dollars).toMatchObject(Object.fromEntries(close));
    }
    for (const [name, all] of Object.entries({
      gateway: 4_013_010 * 3.5e-6,
      lambda: 4_011_010 * 0.2e-6 + ((30_873_600_000 + 7_680_000) / 1_024_000) * 0.0000133334,
      logs: (ALL_BYTES / GIGABYTE) * 0.5,
      transfer: (sent / GIGABYTE) * 0.09,
      tracing: 40_000 * 5e-6,
    })) {
      const sum = rows.reduce((total, row) => total + row.dollars[name as 'logs'], 0);
      expect(sum, name).toBeCloseTo(all, 9);
    }
    expect(rows[0]).toMatchObject({ readUnits: 1.5e6, writeUnits: 0 });
    expect(rows[1]).toMatchObject({ readUnits: 1_000, writeUnits: 1_000 });
    const total = rows.reduce((all, row) => all + row.total, 0);
    expect(document).toMatchObject({
      ...{ stage: 'production', region: 'us-east-1', pricesAsOf: '2026-11-21' },
      tags: { service: 'petstore', stage: 'production', owner: 'petstore team' },
      months: [{ from: '2026-11-01', to: '2026-11-30', total: expect.closeTo(total, 9) }],
      total: expect.closeTo(total, 9),
    });
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

  it('queries each log once for each month, both ends included', async () => {
    const { aws, run } = await open();
    await run('--from', '2026-10-30', '--to', '2026-11-02');
    const ends = [
      ['2026-10-30T00:00:00Z', '2026-10-31T23:59:59Z'],
      ['2026-11-01T00:00:00Z', '2026-11-02T23:59:59Z'],
    ].map((times) => times.map((time) => Date.parse(time) / 1000));
    const logs = [operationIds.map((id) => `${functionLog}${id}`), [accessLog]];
    const [own, access] = logs.map((logGroupNames) => {
      const asked = aws
        .inputsOf('StartQuery')
        .filter((one) => `${one.logGroupNames}` === `${logGroupNames}`);
      expect(asked).toMatchObject(
        ends.map(([startTime, endTime]) => ({ startTime, endTime, limit: 10_000 })),
      );
      return asked[0]?.queryString;
    });
    expect([own, access]).toMatchInlineSnapshot(`
      [
        "filter ispresent(message.operation) or type = "platform.report"
      | fields record.metrics.billedDurationMs * record.metrics.memorySizeMB as megabyteMilliseconds, strcontains(record.tracing.value, "Sampled=1") as isTraced
      | stats count(*) as lines, sum(message.milliseconds) as milliseconds, sum(message.readUnits) as readUnits, sum(message.writeUnits) as writeUnits, sum(megabyteMilliseconds) as billed, sum(isTraced) as traced by @log, type, message.operation as operation, message.status as status, message.keyName as keyName
      | sort lines desc",
        "filter ispresent(route)
      | fields greatest(bytes - 6291456, 0) as streamed, floor((greatest(bytes, 1) - 1) / 10485760) as further
      | stats count(*) as lines, sum(bytes) as sent, sum(further) as furtherRequests, sum(streamed) as streamedBytes, sum(functionLatency) as milliseconds by @log, route, method, status, functionStatus",
      ]
    `);
  });

  it('prints a table with the sum, and each month separately', async () => {
    const { run } = await open();
    const { status, stdout } = await run('--from', '2026-10-31');
    expect(status).toBe(0);
    const [title, ...tables] = stdout.trimEnd().split('\n\n');
    expect(title).toMatch(
      /^Dollars of production in us-east-1, by the prices of 2026-11-21: \d\d\.\d\d of requests, \d+\.\d\d fixed$/,
    );
    const [rows = [], totals] = tables.map((table) =>
      table.split('\n').map((line) => line.split(/ {2,}/)),
    );
    expect(rows[0]).toEqual([
      ...['month', 'key', 'operation', 'requests', 'gateway', 'Lambda', 'reads', 'writes'],
      ...['transfer', 'logs', 'traces', 'total'],
    ]);
    const first = ['storefront', 'getPet', '3,000,000', '10.5000'];
    expect(rows[1]?.slice(0, 5)).toEqual(['2026-10', ...first]);
    expect(rows[9]?.slice(0, 5)).toEqual(['2026-11', ...first]);
    expect(rows).toHaveLength(1 + 2 * 8);
    const head = ['month', 'key', 'requests', 'of requests', 'of what is fixed', 'total'];
    expect(totals?.[0]?.slice(0, 6)).toEqual(head);
    expect(totals?.[2]?.slice(0, 3)).toEqual(['2026-10', 'warehouse', '1,001,000']);
    expect(totals).toHaveLength(1 + 2 * 6);
  });

  it('sums up each key, with its share of the fixed costs', async () => {
    const { run } = await open();
    const { months, fixed } = JSON.parse((await run('--to', '2026-11-15', '--json')).stdout);
    const { keys, totals }: { keys: KeyCost[]; totals: ReturnType<typeof toKeyTotals> } = months[0];
    // For half of November.
    const { month } = toCostReport(fixtures.production, readCommittedTraffic());
    expect(fixed).toBeCloseTo(month.fixed / 2, 9);
    const toSum = (rows: KeyCost[]) => rows.reduce((sum, one) => sum + one.total, 0);
    const dollars = toSum(keys.filter(({ key }) => key === 'warehouse'));
    const share = (fixed * dollars) / toSum(keys);
    expect(totals.find(({ key }) => key === 'warehouse')).toMatchObject({
      ...{ key: 'warehouse', requests: 1_001_000, sales: 0, dollars: expect.closeTo(dollars, 9) },
      ...{ fixed: expect.closeTo(share, 9), total: expect.closeTo(dollars + share, 9) },
    });
    expect(totals.reduce((sum, one) => sum + one.fixed, 0)).toBeCloseTo(fixed, 9);
  });
});

describe('costs measure of days', () => {
  const lists = [
    ['GET /inventory', '200', '1300000'],
    ['GET /inventory', '304', '7'],
    ['PATCH /inventory/{petId}', '200', '30'],
    ['PATCH /inventory/{petId}', '413', '3'],
  ].map(([request = '', status = '', lines = '']) => toAccess(request, status, '200', { lines }));
  // Ten plain updates, with one unit each, and twenty with a key, with four.
  const sold = { lines: '60', writeUnits: '180' };
  const updates = toLine('updateInventory', '200', 'storefront', sold);
  const openTraffic = async () => {
    const access = [...accessRows, ...lists];
    const { aws, variables } = await open({ access, functions: [...functionRows, updates] });
    const run = (...args: string[]) =>
      callOps(runCosts, ['measure', ...november, ...args], variables);
    return { aws, run };
  };
  /**
   * Updates have keys by their write units, lists kinds of bodies as in the committed traffic. A 502 counts as a 200, a
   * 413 as a 400.
   */
  const counted = {
    ...{ 'getPet 200': 4_000_010, 'getPet 401': 10_000, 'getPet 429': 5_000 },
    ...{ 'updateInventory 412': 1_000, 'listInventory 200': 300_000 },
    ...{ 'listInventory 200 gzip': 500_000, 'listInventory 200 petId': 500_000 },
    ...{ 'listInventory 304': 7, 'updateInventory 400': 3 },
    ...{ 'updateInventory 200': 10, 'updateInventory 200 Idempotency-Key': 20 },
  };

  it('counts a month’s requests by operation and response, in a query of each log, as a traffic file', async () => {
    const { aws, run } = await openTraffic();
    const { stdout, stderr } = await run();
    const { entries, requests } = JSON.parse(stdout);
    expect({ entries, requests }).toEqual({ entries: 1_000, requests: counted });
    expect(stderr).toBe('The queries read 4.86 GB of logs, which costs $0.02.\n');
    const queries = aws.inputsOf('StartQuery');
    expect(queries).toHaveLength(2);
    const access = queries.find(({ logGroupNames }) => `${logGroupNames}` === accessLog);
    expect(access?.queryString).toMatch(
      /^filter userAgent != "petstore-check"\s*\| filter ispresent\(route\)/,
    );
    const half = await run('--to', '2026-11-15');
    expect(JSON.parse(half.stdout)).toMatchObject({ requests: { 'getPet 200': 8_000_020 } });
  });

  it('forecasts a month with that file', async () => {
    const { run } = await openTraffic();
    const traffic = ['--traffic', folder.write('traffic.json', (await run()).stdout)];
    const { stdout } = await callOps(runCosts, ['month', ...traffic]);
    expect(stdout).toMatch(/^A month of production, [\s\S]*\ngetPet 200 +4,000,010 /);
  });
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

it('prints the cost of the queries first, and above a dollar needs a yes', async () => {
  const { run: runCheap } = await open();
  const read = `The queries read ${(ALL_BYTES / 2 ** 30).toFixed(2)} GB of logs`;
  expect((await runCheap()).stderr).toBe(`${read}, which costs $0.02.\n`);
  const { aws, run, variables } = await open({ volume: 50 });
  const { status, stderr } = await run();
  expect(status).toBe(2);
  expect(stderr).toMatch(/costs \$1\.21\.\n.*add --yes/);
  const no = await callOps(byKey, november, variables, 'n\n');
  expect(no).toMatchObject({ status: 0, stdout: '' });
  expect(aws.inputsOf('StartQuery')).toEqual([]);
  expect((await callOps(byKey, november, variables, 'y\n')).stdout).not.toBe('');
  expect(await run('--yes')).toMatchObject({ status: 0 });
});

describe('costs forecast', () => {
  const { production } = fixtures;
  const settings = { maxIncreaseDollars: 5, maxIncreasePercent: 10 };
  const budget = { ...settings, budget: { ...changedSettings.budget, monthlyDollars: 50 } };
  /** Twenty days of November, of a stage that sells 60,000 pieces in them. */
  const forecast = async (
    args: object,
    accepted = {},
    changed: Partial<StageSettings> = settings,
    now = Date.UTC(2026, 10, 21, 0, 5),
  ) => {
    vi.setSystemTime(now);
    changeSettings(production, changed);
    const sold = toLine('updateInventory', '200', 'warehouse', { lines: '60000' });
    const { aws, variables } = await open({ functions: [...functionRows, sold] });
    const run = () => runForecast({ stage: stages.production, ...args }, accepted);
    return { aws, ...(await callOps(run, [], variables)) };
  };
  const readTotal = async () => JSON.parse((await forecast({ json: true })).stdout).perMonth;

  it.each([
    ['what was accepted', 1, 0, ''],
    ['more, within the limits', 0.95, 0, ''],
    ['too much', 0.5, 1, ', past its maxIncreaseDollars of 5 and maxIncreasePercent of 10'],
    ['what nobody has accepted', undefined, 1, ''],
  ])('says what the month will cost: %s', async (_, factor, expected, past) => {
    const total: number = await readTotal();
    const accepted = factor && { production: Number((factor * total).toFixed(2)) };
    const { status, stdout, aws } = await forecast({}, accepted, budget);
    const [, soFar, rate, perThousand] =
      /: \$(\d+\.\d\d) so far, \$(\d+\.\d\d) a month .*; \$(\S+) per thousand sales\.\n$/.exec(
        stdout,
      ) ?? [];
    expect(stdout).toBe(
      `production from 2026-11-01 to 2026-11-20: $${soFar} so far, $${total.toFixed(2)} a month at this rate${past}; accepted ${accepted ? `$${accepted.production.toFixed(2)}` : 'none'}, budget $50.00; $${perThousand} per thousand sales.\n`,
    );
    expect(status).toBe(expected);
    expect([soFar, perThousand].map(Number)).toEqual([
      expect.closeTo((Number(rate) * 20) / 30, 1),
      expect.closeTo((Number(rate) * 20) / 30 / 60, 3),
    ]);
    const [startTime, end] = [Date.UTC(2026, 10, 1) / 1e3, Date.UTC(2026, 10, 21) / 1e3];
    expect(aws.inputsOf('StartQuery')[0]).toMatchObject({ startTime, endTime: end - 1 });
  });

  it('says so for each key, of the month before on the first, and that there is no budget', async () => {
    const { stdout } = await forecast({ 'by-key': true });
    const first = Date.UTC(2026, 11, 1);
    const { from, to } = JSON.parse((await forecast({ json: true }, {}, settings, first)).stdout);
    expect([from, to]).toEqual(['2026-11-01', '2026-11-30']);
    const [line, table = ''] = stdout.split('\n\n');
    expect(line).toContain('; accepted none, budget none; ');
    const rows = table.split('\n').map((row) => row.split(/ {2,}/));
    expect(rows[0]?.slice(-2)).toEqual(['a month at this rate', 'per thousand sales']);
    const [month, key, , , , total, perMonth, perThousandSales] = rows[2] ?? [];
    expect([month, key]).toEqual(['2026-11', 'warehouse']);
    expect(Number(perMonth)).toBeCloseTo((Number(total) * 30) / 20, 3);
    expect(Number(perThousandSales)).toBeCloseTo(Number(total) / 60, 3);
    const { stdout: json } = await forecast({ 'by-key': true, json: true });
    const { total: all, totals } = JSON.parse(json);
    const sum = totals.reduce((before: number, one: { total: number }) => before + one.total, 0);
    expect(sum).toBeCloseTo(all, 9);
  });
});

const gone = 'lines before 2026-09-07 are deleted.';
const last = 'is not over: the last whole day of UTC is 2026-12-04.';
it.each([
  [['--from', '2026-12-05', '--to', '2026-12-05'], `--from 2026-12-05 ${last}`],
  [['--from', '2027-01-01', '--to', '2027-01-31'], `--from 2027-01-01 ${last}`],
  [['--from', '2026-12-01'], '--from 2026-12-01 comes after --to 2026-11-30.'],
  [['--from', '2026-09-05', '--to', '2026-09-06'], gone],
])('refuses %j in one line: %s', async (args, line) => {
  await expectRefusal(byKey, [...november, ...args], line);
});

it.each(['by-key', 'measure'])('%s ends at the last whole day, and says so', async (name) => {
  const { aws, variables } = await open();
  const days = ['--from', '2026-12-01', '--to', '2026-12-31'];
  const { stderr } = await callOps(runCosts, [name, ...days], variables);
  expect(stderr).toMatch(`--to 2026-12-31 ${last} The days end there.\n`);
  expect(aws.inputsOf('StartQuery')[0]?.endTime).toBe(Date.UTC(2026, 11, 5) / 1000 - 1);
});

it('leaves out days that the logs no longer have, and says so in one line', async () => {
  const { aws, run } = await open();
  const { stderr } = await run('--from', '2026-08-01', '--to', '2026-09-10');
  expect(stderr).toContain(`The logs of production are kept for 90 days: ${gone}\n`);
  expect(aws.inputsOf('StartQuery')[0]?.startTime).toBe(Date.UTC(2026, 8, 7) / 1000);
  const { stderr: kept } = await run('--from', '2026-09-07', '--to', '2026-09-10');
  expect(kept).not.toContain('deleted');
});

const many = Array.from({ length: 10_000 }, () => ({ lines: '1' }));
it.each([
  [
    'has more rows than it returns',
    { functions: many, recordsMatched: 12_345 },
    /at most 10000 rows: 2345 of 12345 log lines are left out\. Ask for fewer days\.\n$/,
  ],
  [
    'does not complete',
    { status: 'Timeout' },
    /did not complete \(Timeout\)\. Run it again, or for fewer days\..*\n$/,
  ],
])('says so if a query %s', async (_, logs, line) => {
  const { run } = await open(logs);
  const { status, stderr, stdout } = await run();
  expect(stderr).toMatch(line);
  expect([status, stdout === '']).toEqual('status' in logs ? [1, true] : [0, false]);
});

it('ends in one line in a region without prices', async () => {
  const { aws } = await open();
  const variables = { ...aws.variables, AWS_REGION: 'il-central-1' };
  const stderr =
    'The prices of il-central-1 are not known: npx petstore costs prices --region il-central-1 reads them from AWS.\n';
  expect(await callOps(byKey, november, variables)).toEqual({ status: 1, stdout: '', stderr });
});
