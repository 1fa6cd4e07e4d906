import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { defaultPrices } from '../../../infra/costs/prices/priceTables.ts';
import { toKeyCosts } from '../../../infra/ops/costs/keyCosts.ts';
import { runCosts } from '../../../infra/ops/costs/runCosts.ts';
import { mapOperations, operationIds } from '../../../shared/contract/operations.ts';
import { AwsError } from '../ops/aws.ts';
import { callOps, runOps } from '../ops/opsProcess.ts';
import { byKey, december, november, openAws, toAccess, toTodaysArgs } from './insights.ts';
import { useTestStages } from './testStages.ts';

useTestStages();

/** Of an answer, as the recorded 304 has it, which has nothing else. */
const HEAD_BYTES = 537;
const GIGABYTE = 2 ** 30;

const stops: (() => void)[] = [];
const goToDecember = () => void vi.useFakeTimers({ toFake: ['Date'], now: december });
beforeEach(goToDecember);
afterEach(() => {
  vi.useRealTimers();
  for (const stop of stops.splice(0)) stop();
});

async function open(...recorded: Parameters<typeof openAws>) {
  const opened = await openAws(...recorded);
  stops.push(opened.aws.close);
  return opened;
}

interface Cost {
  key: string;
  operation?: string;
  requests: number;
  total: number;
  dollars: Record<string, number>;
}

describe('npm run costs -- --by-key', () => {
  /** November's costs, of queries that were asked for twice. */
  let document: { total: number; months: [{ keys: Cost[] }] };
  let rows: readonly Cost[];
  beforeAll(async () => {
    goToDecember();
    document = await (await open({ stillRuns: 1 })).json();
    rows = document.months[0].keys;
  });

  it('reckons what a key’s requests cost, by hand', () => {
    const [first] = rows;
    expect(first).toMatchObject({ key: 'storefront', operation: 'getPet', requests: 3e6 });
    const calls = 3e6 / 4_010_010;
    const bytes = 0.75 * 1.2e9 + 3e6 * HEAD_BYTES;
    const expected = {
      gateway: 3 * 3.5,
      // Its share of all calls; and of 60,300,000 ms with half a GB, those that it logged.
      lambda: 4_010_010 * calls * 0.2e-6 + 30_000 * 0.5 * 0.0000133334,
      readUnits: 1.5 * 0.125,
      writeUnits: 0,
      transfer: (bytes / GIGABYTE) * 0.09,
      // Of the function's 900 bytes a call, and of the gateway's 400 a line.
      logs: ((3e6 * 900 + 3e6 * (1_607_204_000 / 4_018_010)) / GIGABYTE) * 0.5,
      tracing: 40_000 * calls * 5e-6,
      firewall: 0,
    };
    for (const [component, dollars] of Object.entries(expected)) {
      expect(first?.dollars[component], component).toBeCloseTo(dollars, 9);
    }
    expect(first?.total).toBeCloseTo(
      Object.values(expected).reduce((sum, one) => sum + one, 0),
      9,
    );
  });

  it('bills a failed conditional write by its units', () => {
    const update = rows.find(({ operation }) => operation === 'updateInventory');
    expect(update).toMatchObject({ key: 'warehouse', requests: 1_000, failedWrites: 1_000 });
    expect(update?.dollars.writeUnits).toBeCloseTo(1_000 * 0.625e-6, 12);
    expect(update?.dollars.readUnits).toBeCloseTo(1_000 * 0.125e-6, 12);
  });

  it('has rows for what came without a key, of which a 429 costs no gateway request', () => {
    const keyless = rows.filter(({ key }) => key.startsWith('('));
    expect(keyless.map(({ key, operation, requests }) => [key, operation, requests])).toEqual([
      ['(answered by the gateway)', undefined, 2_000],
      ['(no request line)', 'getPet', 10],
      ['(no valid key)', 'getPet', 10_000],
      ['(refused by the gateway)', 'getPet', 5_000],
    ]);
    const [answered, unlogged, invalid, refused] = keyless.map(({ dollars }) => dollars);
    expect(answered?.gateway).toBeCloseTo(2_000 * 3.5e-6, 12);
    expect(refused?.gateway).toBe(0);
    expect(refused?.lambda).toBe(0);
    expect(refused?.transfer).toBeCloseTo(((400_000 + 5_000 * HEAD_BYTES) / GIGABYTE) * 0.09, 12);
    expect(invalid?.readUnits).toBe(0);
    // Ten calls of 28 s each, which broke off.
    expect(unlogged?.lambda).toBeCloseTo(10 * 0.2e-6 + 280 * 0.5 * 0.0000133334, 9);
  });

  it('divides all that is billed, and nothing twice', () => {
    const sum = (name: string) =>
      rows.reduce((total, { dollars }) => total + (dollars[name] ?? 0), 0);
    expect(sum('gateway')).toBeCloseTo(4_013_010 * 3.5e-6, 9);
    expect(sum('lambda')).toBeCloseTo(
      4_011_010 * 0.2e-6 + ((30_873_600_000 + 7_680_000) / 1024 / 1000) * 0.0000133334,
      9,
    );
    expect(sum('logs')).toBeCloseTo(
      ((3_609_009_000 + 900_000 + 1_607_204_000) / GIGABYTE) * 0.5,
      9,
    );
    expect(sum('transfer')).toBeCloseTo(
      ((1_200_000_000 + 1_000_000 + 800 + 400_000 + 80_000 + 4_018_010 * HEAD_BYTES) / GIGABYTE) *
        0.09,
      9,
    );
    expect(sum('tracing')).toBeCloseTo(40_000 * 5e-6, 9);
    const total = rows.reduce((all, row) => all + row.total, 0);
    expect(document.total).toBeCloseTo(total, 9);
    expect(document).toMatchObject({
      stage: 'production',
      region: 'us-east-1',
      pricesAsOf: '2026-11-21',
    });
  });

  it('goes by the steps of the gateway’s price, and counts long answers several times', async () => {
    const sums = {
      lines: '399999990',
      sent: '0',
      furtherRequests: '10',
      streamedBytes: '1073741824',
    };
    const access = [toAccess('GET', '/inventory', '200', '200', sums)];
    const { json } = await open({ functions: [], access });
    const [row] = (await json()).months[0].keys as Cost[];
    expect(row?.dollars.gateway).toBeCloseTo(333 * 3.5 + 67 * 2.8, 6);
    expect(row?.dollars.lambda).toBeCloseTo(0.008, 12);
  });

  it('asks each log once for each month, both ends included', async () => {
    const { aws, run } = await open();
    await run('--from', '2026-10-30', '--to', '2026-11-02');
    // Of each month, the one that is longer first.
    const queries = aws
      .inputsOf('StartQuery')
      .sort(
        (one, other) =>
          Number(one.startTime) - Number(other.startTime) ||
          String(other.logGroupNames).length - String(one.logGroupNames).length,
      );
    const second = (text: string) => Date.parse(text) / 1000;
    expect(queries.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
      ...Array(2).fill([second('2026-10-30T00:00:00Z'), second('2026-10-31T23:59:59Z')]),
      ...Array(2).fill([second('2026-11-01T00:00:00Z'), second('2026-11-02T23:59:59Z')]),
    ]);
    expect(queries[0]?.logGroupNames).toEqual(
      operationIds.map((id) => `/aws/lambda/petstore-production-${id}`),
    );
    expect(queries[1]?.logGroupNames).toEqual(['/aws/apigateway/petstore-production']);
    expect(queries[0]?.limit).toBe(10_000);
    expect(queries.slice(0, 2).map(({ queryString }) => queryString)).toMatchInlineSnapshot(`
      [
        "filter ispresent(message.operation) or type = "platform.report"
      | fields record.metrics.billedDurationMs * record.metrics.memorySizeMB as megabyteMilliseconds, strcontains(record.tracing.value, "Sampled=1") as isTraced
      | stats count(*) as lines, sum(message.milliseconds) as milliseconds, sum(message.readUnits) as readUnits, sum(message.keyReadUnits) as keyReadUnits, sum(message.writeUnits) as writeUnits, sum(message.failedWrites) as failedWrites, sum(megabyteMilliseconds) as billed, sum(isTraced) as traced by @log, type, message.operation as operation, message.status as status, message.keyName as keyName",
        "filter ispresent(route)
      | fields greatest(bytes - 6291456, 0) as streamed, floor((greatest(bytes, 1) - 1) / 10485760) as further
      | stats count(*) as lines, sum(bytes) as sent, sum(further) as furtherRequests, sum(streamed) as streamedBytes, sum(functionLatency) as milliseconds by @log, route, method, status, functionStatus",
      ]
    `);
  });

  it('prints a table with a sum, and a month of its own for each', async () => {
    const { run } = await open();
    const { status, stdout } = await run('--from', '2026-10-31');
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /^Dollars of production in us-east-1, by the prices of 2026-11-21\.\n\n/,
    );
    const rows = stdout
      .trimEnd()
      .split('\n')
      .slice(2)
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual([
      ...['MONTH', 'KEY', 'OPERATION', 'REQUESTS', 'GATEWAY', 'LAMBDA', 'READS', 'WRITES'],
      ...['TRANSFER', 'LOGS', 'TRACES', 'FIREWALL', 'TOTAL'],
    ]);
    expect(rows[1]?.slice(0, 5)).toEqual([
      '2026-10',
      'storefront',
      'getPet',
      '3,000,000',
      '10.5000',
    ]);
    expect(rows[8]?.slice(0, 3)).toEqual(['2026-11', 'storefront', 'getPet']);
    expect(rows).toHaveLength(1 + 2 * 7 + 1);
    expect(rows.at(-1)?.slice(0, 3)).toEqual([
      'all',
      '8,036,020',
      (2 * 4_013_010 * 3.5e-6).toFixed(4),
    ]);
  });
});

it('charges the firewall for each line of the gateway, those that it refused among them', () => {
  const unbilled = { bytes: 0, furtherRequests: 0, streamedBytes: 0, functionMilliseconds: 0 };
  const gateway = [{ ...unbilled, status: '429', isCalled: false, requests: 1e6 }];
  const totals = { requests: [], calls: [], gateway, isCut: false };
  const bytes = { functions: mapOperations(() => 0), gateway: 0 };
  const toDollars = (hasFirewall: boolean) =>
    toKeyCosts(totals, bytes, { prices: defaultPrices, hasFirewall })[0]?.dollars.firewall;
  expect(toDollars(true)).toBeCloseTo(0.6, 9);
  expect(toDollars(false)).toBe(0);
});

describe('the cost of asking', () => {
  it('is told first', async () => {
    const { run } = await open();
    const gigabytes = (3_609_009_000 + 900_000 + 1_607_204_000) / 2 ** 30;
    expect((await run()).stderr).toBe(
      `The queries read ${gigabytes.toFixed(2)} GB of logs, which costs $0.02.\n`,
    );
  });

  it('is asked for above a dollar, unless it is agreed to', async () => {
    const { aws, run } = await open({ volume: 50 });
    const { status, stderr } = await run();
    expect(status).toBe(2);
    expect(stderr).toMatch(/costs \$1\.21\.\n.*add --yes/);
    expect(aws.inputsOf('StartQuery')).toEqual([]);
    expect(await run('--yes')).toMatchObject({ status: 0 });
    expect(aws.inputsOf('StartQuery')).toHaveLength(2);
  });

  it.each([
    ['y\n', 2],
    ['n\n', 0],
  ])('may be answered by %j', async (typed, queries) => {
    vi.useRealTimers();
    const { aws, variables } = await open({ volume: 50 });
    const { status, stderr } = await callOps(runCosts, toTodaysArgs(), variables, typed);
    expect(stderr.includes('Nothing was asked.')).toBe(queries === 0);
    expect(status).toBe(0);
    expect(aws.inputsOf('StartQuery')).toHaveLength(queries);
  });
});

describe('the limits of the logs', () => {
  it('leave out days that are gone, in one line', async () => {
    const { aws, run } = await open();
    const { stderr } = await run('--from', '2026-08-01', '--to', '2026-09-10');
    expect(stderr).toContain(
      'The logs of production are kept for 90 days: what was before 2026-09-07 is gone.\n',
    );
    expect(aws.inputsOf('StartQuery')[0]?.startTime).toBe(Date.UTC(2026, 8, 7) / 1000);
  });

  it('are told when a query has more rows than it answers with', async () => {
    const access = Array.from({ length: 10_000 }, (_, index) =>
      toAccess('GET', `/${index}`, '404', '-', { lines: '1', sent: '1' }),
    );
    const { run } = await open({ access });
    expect((await run()).stderr).toContain('more than the 10,000 rows');
  });
});

describe('what goes wrong is one line', () => {
  it.each([
    [['--from', '2026-11-31'], '--from must be a day such as 2026-11-30; it is "2026-11-31".'],
    [['--to', 'today'], '--to must be a day such as 2026-11-30; it is "today".'],
    [['--from', '2026-12-01'], '--from 2026-12-01 comes after --to 2026-11-30.'],
    [['--from', '2027-01-01', '--to', '2027-01-02'], '--from 2027-01-01 has not come yet.'],
    [['--from', '2026-01-01', '--to', '2026-01-02'], 'what was before 2026-09-07 is gone.'],
    [['--csv'], "Unknown option '--csv'"],
    [['--stage', 'nowhere'], '--stage must be'],
  ])('%j: %s', async (args, line) => {
    const { status, stdout, stderr } = await callOps(byKey, [...november, ...args]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(line);
    expect(stderr).toMatch(/^[^\n]+\n$/);
  });

  it('without a day', async () => {
    const { stderr } = await callOps(byKey, ['--stage', 'production']);
    expect(stderr).toBe('--from must be a day such as 2026-11-30; it is missing.\n');
  });

  it('without credentials', async () => {
    const { stderr } = await callOps(byKey, november, { AWS_REGION: 'us-east-1' });
    expect(stderr).toContain('There are no AWS credentials: run aws configure');
  });

  const refuse = (name: string, message: string) => () => {
    throw new AwsError(name, message);
  };
  it.each([
    [
      'DescribeStacks',
      'ValidationError',
      'Stack petstore-production does not exist',
      'There is no stack',
    ],
    ['GetMetricData', 'AccessDeniedException', 'no', 'AWS refuses this'],
    ['StartQuery', 'ResourceNotFoundException', 'no', 'is not in us-east-1: deploy the stage'],
    ['StartQuery', 'AccessDeniedException', 'no', 'AWS refuses this'],
  ])('%s: %s', async (operation, name, message, line) => {
    const { run } = await open({}, { [operation]: refuse(name, message) });
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n').at(-1)).toContain(line);
  });

  it('a query that fails', async () => {
    const { run } = await open({ status: 'Timeout' });
    const { status, stdout, stderr } = await run();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('The query of the logs came to no end (Timeout)');
  });

  it('at Ctrl-C nothing, and no query goes on', async () => {
    vi.useRealTimers();
    let interrupt = () => {};
    const asked = new Set<unknown>();
    const { aws, variables } = await open(
      {},
      {
        GetQueryResults({ queryId }) {
          if (!asked.has(queryId) && asked.add(queryId).size === 2) interrupt();
          return { status: 'Running', results: [] };
        },
      },
    );
    const { status, stdout, stderr } = await runOps('infra/ops/costs/costs.ts', toTodaysArgs(), {
      variables,
      onStart: (child) => {
        interrupt = () => child.kill('SIGINT');
      },
    });
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
    // Whose prices these are, where the committed stage is elsewhere, comes before.
    expect(stderr).toMatch(/^(The prices of [^\n]+\n)?The queries read [^\n]+\n$/);
    expect(
      aws
        .inputsOf('StopQuery')
        .map(({ queryId }) => queryId)
        .sort(),
    ).toEqual(['0', '1']);
  });
});

it('names other regions’ prices for what they are', async () => {
  const { aws } = await open();
  const { stderr } = await callOps(byKey, november, aws.variables);
  expect(stderr).toContain(
    'The prices of eu-west-1 are not known: these are those of us-east-1.\n',
  );
});
