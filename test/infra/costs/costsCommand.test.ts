import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { CostReport } from '../../../infra/costs/bills/costReport.ts';
import type { Month } from '../../../infra/costs/bills/monthlyBill.ts';
import {
  readCommittedTraffic,
  sumRequests,
  type Traffic,
  type TrafficShare,
} from '../../../infra/costs/bills/traffic.ts';
import type { Dollars } from '../../../infra/costs/bills/usage.ts';
import { perUnit } from '../../../infra/costs/prices.ts';
import { unitsFile } from '../../../infra/costs/units/answerUnits.ts';
import { checkMonths } from '../../../infra/ops/costs/checkMonths.ts';
import { runCosts } from '../../../infra/ops/costs/runCosts.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stageNames } from '../../../infra/stages/stages.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { describeStack, useAws } from '../ops/aws.ts';
import { callOps, expectRefusal } from '../ops/opsProcess.ts';

const root = join(import.meta.dirname, '../../..');
const folder = openTemporaryFolder();
const writeTraffic = (text: string) => folder.write('traffic.json', text);
afterEach(() => vi.useRealTimers());

/** @returns the output; there must be no error output */
async function read(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await callOps(runCosts, args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

const readReport = async (...args: string[]): Promise<CostReport> =>
  JSON.parse(await read('--json', ...args));

describe('--json', () => {
  test('is one document with consistent sums', async () => {
    const { operations, month, ...report } = await readReport();
    expect(report).toMatchObject({
      ...{ stage: 'production', region: 'us-east-1', pricesAsOf: '2026-11-21' },
      worstMonth: { entries: 100_000, total: expect.any(Number) },
    });
    for (const { components, dollarsPerMillion } of operations) {
      const sum = Object.values(components).reduce((total, one) => total + one, 0);
      expect(sum).toBeCloseTo(dollarsPerMillion, 9);
    }
    expect(month.requests + month.fixed).toBeCloseTo(month.total, 9);
    const names = operations.map(({ operationId, answer, entries }) =>
      [operationId, answer, entries].join(),
    );
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining(['getPet,200,', 'listInventory,200 gzip,100000', 'listOrders,401,']),
    );
  });

  test('has the month of the typed traffic', async () => {
    const { month } = await readReport('--requests', 'getPet=0.002G,listInventory:gzip=500k');
    const file = { requests: { getPet: 2_000_000, 'listInventory 200 gzip': 500_000 } };
    const { month: same } = await readReport('--traffic', writeTraffic(JSON.stringify(file)));
    expect(same).toEqual(month);
    expect(month.requests).toBeCloseTo(2 * 4.53 + 0.5 * 6.35, 1);
  });

  test('with --entries prices only lists of that length, without a 304 if they have several pages', async () => {
    const { operations, month, worstMonth } = await readReport('--entries', '200000');
    expect(new Set(operations.flatMap(({ entries = [] }) => entries))).toEqual(new Set([200_000]));
    expect([month.entries, worstMonth.entries]).toEqual([200_000, 200_000]);
    expect(operations.map(({ answer }) => answer)).not.toContain('304');
    const lists = month.shares.filter(({ operationId }) => operationId === 'listInventory');
    expect(lists.map(({ answer }) => answer)).toEqual(['200', '200 gzip', '200 petId', '200']);
  });
});

describe('for people', () => {
  const readRows = async (...args: string[]) =>
    (await read(...args)).split('\n').map((line) => line.split(/ {2,}/));
  const toText = (dollars: number) => dollars.toFixed(2);

  test('of all requests, each row has the cost of each component', async () => {
    const [title, head, ...rows] = await readRows();
    expect(title?.[0]).toMatch(/^Dollars per million requests, us-east-1, prices of 2026-11-21/);
    const labels = ['gateway', 'Lambda', 'reads', 'writes', 'transfer', 'logs', 'traces'];
    expect(head).toEqual(['operation', 'response', ...labels, 'total']);
    const [list] = (await readReport()).operations;
    const { gateway, lambda, readUnits, writeUnits, transfer, logs, tracing } = {
      ...(list?.components as Dollars),
    };
    const cells = [gateway, lambda, readUnits, writeUnits, transfer, logs, tracing];
    const total = Number(list?.dollarsPerMillion);
    expect(rows[0]).toEqual(['listInventory', '200 of 1,000', ...[...cells, total].map(toText)]);
  });

  test('a month shows its fixed part separately, and the savings', async () => {
    const typed = ['--stage', 'production', '--requests', 'getPet=2M'];
    const rows = await readRows(...typed);
    const { month } = await readReport(...typed);
    expect(rows[0]?.[0]).toMatch(/^A month of production, us-east-1.* of 1,000 entries/);
    const isUsed = (dollars: number) => dollars > 0;
    const [share] = month.shares.map(({ dollars }) => Object.values(dollars).filter(isUsed));
    const sum = Number(share?.reduce((total, one) => total + one, 0));
    expect(rows).toContainEqual([
      'getPet 200',
      '2,000,000',
      ...[...(share ?? []), sum].map(toText),
    ]);
    const all = Object.values(month.components).filter(isUsed);
    for (const row of [
      ['keys, read once a minute', '0.01'],
      ['fixed', toText(month.fixed)],
      ['total', ...[...all, month.total].map(toText)],
    ]) {
      expect(rows).toContainEqual(row);
    }
    const text = rows.join('\n');
    expect(text).toMatch(
      /^Fixed: Lambda 0\.03, stored logs 0\.03, alarms \d+\.\d\d, .*encryption key 1\.00\.$/m,
    );
    expect(text).toMatch(/What each change alone would save .*\n0\.10,No X-Ray traces/);
    expect((await readReport('--stage', 'staging')).month.fixed).toBeCloseTo(0.31, 2);
  });

  test('the worst month has the gateway’s own responses', async () => {
    const rows = await readRows('--worst-case');
    expect(rows[0]?.[0]).toMatch(/^The worst month.* of 100,000 entries/);
    const { other, refusals } = (await readReport()).worstMonth;
    expect(rows).toContainEqual(['other paths, at their throttle', toText(other)]);
    const [, dollars = ''] = rows.find(([name]) => name === '429, at 10,000 a second') ?? [];
    expect(Number(dollars.replace(',', ''))).toBeCloseTo(refusals, 1);
  });

  const committed = readCommittedTraffic();
  const sum = sumRequests(committed);
  const count = (traffic: Pick<Traffic, 'shares'> | undefined) =>
    sumRequests({ shares: traffic?.shares.filter(isPet) ?? [] });
  const isPet = (one: TrafficShare) => one.operationId === 'getPet';
  const { entries, shop } = committed;
  const [pets, petsOfShop, added] = [count(committed), count(shop), shop?.entries ?? 0];
  test.each<[args: string[], pets: number, entries: number]>([
    [['--requests', `${2 * sum}`], 2 * pets, entries],
    [['--shops', '+2'], pets + 2 * petsOfShop, entries + 2 * added],
    [['--shops', '+4', '--entries', '5'], pets + 4 * petsOfShop, 5],
    [['--requests', `${sum / 10_000}k`, '--shops', '+1'], pets / 10 + petsOfShop, entries + added],
    [['--requests', 'getPet=1', '--shops', '+1'], 1 + petsOfShop, 1_000 + added],
  ])('%j is a month of that traffic', async (args, asked, length) => {
    const { month } = await readReport(...args);
    expect(count(month) / asked).toBeCloseTo(1, 5);
    expect(month.entries).toBe(length);
    const names = month.shares.map(({ operationId, answer }) => `${operationId} ${answer}`);
    expect(new Set(names).size).toBe(names.length);
    expect((await readRows(...args))[0]?.[0]).toMatch(/^A month of production/);
  });

  test('--months shows each month with its growth, and the sum', async () => {
    const typed = ['--requests', 'getPet=1M', '--months', '3', '--growth', '10%'];
    const rows = await readRows(...typed);
    const months: Month[] = JSON.parse(await read('--json', ...typed));
    expect(months.map(({ requests }) => requests / Number(months[0]?.requests))).toEqual(
      [1, 1.1, 1.21].map((one) => expect.closeTo(one, 2)),
    );
    expect(rows.slice(0, -1)).toEqual([
      ['month', 'requests', 'for requests', 'fixed', 'total'],
      ...months.map(({ requests, fixed, total }, index) => [
        `${index + 1}`,
        ['1,000,000', '1,100,000', '1,210,000'][index],
        ...[requests, fixed, total].map(toText),
      ]),
      ['sum', toText(months.reduce((sum, { total }) => sum + total, 0))],
    ]);
  });

  test('--diff compares the files, also uncommitted ones, with a commit', async () => {
    expect(await read('--diff', 'HEAD')).toMatch(
      /^At the traffic of .*, (nothing costs|production \$)/,
    );
    const { status, stderr } = await callOps(runCosts, ['--diff', 'nobody/knows']);
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('nobody/') });
  });
});

test('--diff prices a commit by its own settings, prices and model', async () => {
  const copy = mkdtempSync(folder.toPath('copy-'));
  for (const name of ['infra', 'shared', 'package.json']) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const execute = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: copy, encoding: 'utf8' });
  const change = (file: string, from: string, to: string) => {
    const text = readFileSync(join(copy, file), 'utf8');
    expect(text).toContain(from);
    writeFileSync(join(copy, file), text.replace(from, to));
  };
  const { readUnits } = perUnit;
  // One alarm less at the commit, and another price.
  change('infra/costs/bills/fixedCosts.ts', '// Transaction conflicts.\n    1 +', '0 +');
  change('infra/costs/prices.ts', `readUnits: ${readUnits * 1e6}e-6`, 'readUnits: 1e-6');
  execute('git', 'init', '--quiet');
  execute('git', 'add', 'infra', 'shared', 'package.json');
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@petstore.example'];
  execute('git', ...author, 'commit', '--quiet', '--no-verify', '--message', 'Before');
  for (const file of ['infra/costs/bills/fixedCosts.ts', 'infra/costs/prices.ts']) {
    cpSync(join(root, file), join(copy, file));
  }
  const printed = execute(process.execPath, 'infra/petstore.js', 'costs', '--diff', 'HEAD');
  expect(printed).toMatch(
    /^At the traffic of .*, production .*: reads -\d\.\d+, alarms \+0\.10\.\n/,
  );
  expect(printed).toContain(`- price of read units 0.000001 → ${readUnits.toFixed(9)} -`);
  expect(printed).toContain('- metrics with an alarm ');
  // In Markdown, a line right after a list would belong to it.
  expect(printed).toMatch(/\n- .*\n\nAt the traffic of .*, staging /);
}, 60_000);

describe('--check', () => {
  const { settings } = fixtures.production;
  /** The limit is the cost without the changes. */
  const check = async (changes: Partial<StageSettings>) => {
    const worstMonthDollars = Math.ceil((await readReport()).worstMonth.total);
    return () => checkMonths([changeProduction({ worstMonthDollars, ...changes })]);
  };
  const throttles = { ...settings.throttles, listInventory: { rate: 50, burst: 100 } };

  test.each([
    [[], stageNames],
    [['--stage', 'staging'], ['staging']],
  ])('%j prints the months of %j', async (args, names) => {
    const lines = (await read('--check', ...args)).trimEnd().split('\n');
    const within = 'costs at most \\$\\d+, within its worstMonthDollars of \\d+\\.$';
    expect(lines).toEqual(
      names.flatMap((name) => [
        expect.stringMatching(`^The worst month of ${name} ${within}`),
        expect.stringMatching(
          `^At the traffic of .*, ${name} \\$[\\d.]+ → \\$[\\d.]+ a month: .*\\.$`,
        ),
      ]),
    );
  });

  describe('of the committed traffic', () => {
    const wide = { maxIncreaseDollars: 1e6, maxIncreasePercent: 1e6, worstMonthDollars: 1e6 };
    /** The accepted cost is that of the month without the changes, times a factor. */
    const judge = async (factor: number, changes: Partial<StageSettings>) => {
      const { total } = (await readReport()).month;
      const accepted = { production: Number((total * factor).toFixed(2)) };
      return () => checkMonths([changeProduction({ ...wide, ...changes })], accepted);
    };
    const more = { reservedConcurrency: { getPet: 900 } };

    test.each<[string, factor: number, changes: Partial<StageSettings>, figures: RegExp]>([
      ['what was accepted', 1, { maxIncreaseDollars: 0 }, /\$0\.00 \(0\.0 %\)/],
      ['less', 2, { maxIncreasePercent: 0 }, /\$0\.00 \(0\.0 %\)/],
      [
        'an alarm within the allowed dime',
        1,
        { ...more, maxIncreaseDollars: 0.1 },
        /\$0\.10 \(0\.\d %\)/,
      ],
      ['an allowed doubling', 0.5, { maxIncreasePercent: 101 }, /\((99\.9|100\.\d) %\)/],
    ])('accepts %s, and says so', async (_, factor, changes, figures) => {
      const text = (await judge(factor, changes))();
      expect(text).toMatch(
        /a month: \$[\d.]+ \([\d.]+ %\) more than accepted, within its maxIncreaseDollars of \d\S* and maxIncreasePercent of \d+\.\n$/,
      );
      expect(text).toMatch(figures);
    });

    test.each<[string, factor: number, changes: Partial<StageSettings>, figures: RegExp]>([
      ['too many dollars', 1, { ...more, maxIncreaseDollars: 0.09 }, /\$0\.10 \(0\.\d %\)/],
      ['too many per cent', 0.5, { maxIncreasePercent: 98 }, /\((99\.9|100\.\d) %\)/],
      ['a new stage', 0, {}, /\$0\.00 → \$\d/],
    ])('fails for %s, and says how to accept it', async (_, factor, changes, figures) => {
      const check = await judge(factor, changes);
      expect(check).toThrow(figures);
      expect(check).toThrow(
        /^At the traffic of infra\/costs\/traffic\.json, production \$[\d.]+ → \$[\d.]+ a month: \$\S+ \(\S+ %\) more than accepted, past its .+\. npm run costs -- --diff REV says why\. To accept it, set "production": [\d.]+ in infra\/costs\/accepted\.json; its owners in \.github\/CODEOWNERS must approve\.$/,
      );
    });

    test('is compared with a file that has an owner', () => {
      const owners = readFileSync(join(root, '.github/CODEOWNERS'), 'utf8');
      expect(owners).toMatch(/^\/infra\/costs\/accepted\.json @\S+$/m);
    });
  });

  test.each<[name: string, changes: Partial<StageSettings>]>([
    ['a higher throttle', { throttles }],
    ['a longer inventory', { inventoryEntries: 1_000_000 }],
    ['a firewall', { firewall: true }],
    ['more traces', { tracing: { reservedPerSecond: 0, percent: 100 } }],
  ])('fails for %s, with the figure and what to do', async (_, changes) => {
    expect(await check(changes)).toThrow(
      /^The worst month of production can cost \$\d{5,}, more than its worstMonthDollars of \d{5}\. Lower [^.]+stages\.ts, or raise [^.]+\.$/,
    );
  });

  test('allows costs up to the set dollar, and costs bounded by concurrency', async () => {
    expect(await check({})).not.toThrow();
    const bounded = { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 2 } };
    expect(await check({ throttles, ...bounded })).not.toThrow();
    const worstMonthDollars = Math.ceil((await readReport()).worstMonth.total);
    expect(await check({ worstMonthDollars: worstMonthDollars - 1 })).toThrow(
      `$${worstMonthDollars}`,
    );
  });
});

describe('--measure', () => {
  const toItem = (petId: string, isTagged: boolean) => ({
    ...{ p: { N: petId }, q: { N: '1' }, s: { S: 'a' } },
    ...(isTagged && { v: { B: 'AAAAAAA=' } }),
  });
  const entries = ['-1000000', '20', '3000000'].flatMap((petId) => [
    ...[toItem(petId, false), toItem('1234567', true)],
    ...[toItem('1234567', true), toItem('1234567', true)],
  ]);
  const openTable = async (Items: readonly object[]) => {
    const { variables, inputsOf } = await useAws({
      ...describeStack('petstore-staging', { InventoryTableName: 'inventory-of-staging' }),
      DescribeTable: () => ({ Table: { ItemCount: 12_345 } }),
      Scan: () => ({ Items, LastEvaluatedKey: { p: { N: '7' } } }),
    });
    const run = (...args: string[]) =>
      callOps(runCosts, ['--measure', '--stage', 'staging', ...args], variables);
    return { run, inputsOf };
  };

  test('describes the entries of a sample of the table, and says what to commit', async () => {
    const { run, inputsOf } = await openTable(entries);
    const { status, stdout } = await run();
    expect({ status, stdout }).toEqual({
      status: 0,
      stdout: [
        'Read 12 of the 12,345 entries of staging (DynamoDB counts them every six hours).',
        'Their ids have 6.6 digits on average. 75 % have been updated, and so have a version.',
        'For infra/costs/sizes.json:',
        '  "staging": { "idDigits": 6.6, "taggedShare": 0.75 }\n',
      ].join('\n'),
    });
    expect(inputsOf('Scan')).toEqual([{ TableName: 'inventory-of-staging', Limit: 3_000 }]);
    expect(JSON.parse((await run('--json')).stdout)).toEqual({
      staging: { idDigits: 6.6, taggedShare: 0.75 },
    });
  });

  test('says that an empty table has no entries to measure', async () => {
    const { run } = await openTable([]);
    expect(await run()).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: 'The table inventory-of-staging has no entries to measure.\n',
    });
  });
});

const badTraffic = (text: string) => () => ['--traffic', writeTraffic(text)];
test.each<[args: string[] | (() => string[]), line: string]>([
  [['--stage', 'x'], `--stage must be ${stageNames.join(' or ')}; it is "x".`],
  [['--requests', 'getDog=1'], `The operations are ${operationIds.join(', ')}.`],
  [['--requests', 'getPet'], 'must have the form getPet=2M'],
  [['--requests', 'getPet=-1'], 'must have the form getPet=2M'],
  [['--requests', 'getPet:412=1'], 'getPet has no response "412"; it has 200, 400, 401, 404, 429.'],
  [['--requests', 'getPet=1', '--traffic', 'x'], 'Give --requests or --traffic, not both.'],
  [['--traffic', folder.toPath('none.json')], 'ENOENT'],
  [badTraffic('{'), 'JSON'],
  [badTraffic('{}'), 'at requests'],
  [badTraffic('{"requests": {"getPet": "2M"}}'), 'at requests.getPet'],
  [badTraffic('{"requests": {"getPet": -1}}'), 'at requests.getPet'],
  [badTraffic('{"entries": -1, "requests": {}}'), 'at entries'],
  [['--entries', '1e3'], '--entries must be a whole number'],
  [['--shops', '2'], '--shops must be such as +2; it is "2".'],
  [() => ['--shops', '+1', ...badTraffic('{"requests": {}}')()], 'The traffic has no "shop"'],
  [badTraffic('{"requests": {}, "shop": {}}'), 'at shop.entries'],
  [['--months', 'x'], '--months must be a whole number; it is "x".'],
  [['--months', '0'], '--months must be from 1 to 999.'],
  [['--months', '1000'], '--months must be from 1 to 999.'],
  [['--months', '2', '--growth', 'x'], '--growth must be such as 5%; it is "x".'],
  [['--growth', '5%'], '--growth has no meaning by itself.'],
  [['getPet=1'], "Unexpected argument 'getPet=1'."],
  [['--diff', 'HEAD', '--json'], '--json has no meaning with --diff.'],
  [['--check', '--json'], '--json has no meaning with --check.'],
  [['--worst-case', '--requests', 'getPet=1'], '--requests has no meaning with --worst-case.'],
  [['--by-key', '--check'], '--by-key has no meaning with --check.'],
  [['--yes'], '--yes has no meaning by itself.'],
  [['--measure', '--entries', '1'], '--entries has no meaning with --measure.'],
  [['--from-logs'], '--from must be a day such as 2026-11-30; it is missing.'],
])('%s is refused in one line', async (args, line) => {
  await expectRefusal(runCosts, typeof args === 'function' ? args() : args, line);
});

test.each([
  [364, ''],
  [367, expect.stringMatching(/^The prices are of .*, over a year old: [^\n]+\n$/)],
])('prices of %i days ago: a warning is %j', async (days, stderr) => {
  const now = Date.UTC(2026, 10, 21) + days * 24 * 3600 * 1000;
  vi.useFakeTimers({ toFake: ['Date'], now });
  expect(await callOps(runCosts, [])).toMatchObject({ status: 0, stderr });
});

test("a pull request's summary shows its effect on the bill, if the base has units", () => {
  const workflow = readFileSync(join(root, '.github/workflows/check.yml'), 'utf8');
  const file = relative(root, fileURLToPath(unitsFile));
  expect(workflow).toContain(`git cat-file -e HEAD^1:${file}; then\n`);
  expect(workflow).toContain('npm run -s costs -- --diff HEAD^1 || echo ');
});
