import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type CostReport, toStageMonth } from '../../../infra/costs/bills/costReport.ts';
import {
  type Month,
  toFixedUsage,
  toStagePricing,
  toWorstMonth,
  type WorstMonth,
} from '../../../infra/costs/bills/monthlyBill.ts';
import {
  readCommittedTraffic,
  sumRequests,
  type Traffic,
} from '../../../infra/costs/bills/traffic.ts';
import { sumDollars, toCents } from '../../../infra/costs/bills/usage.ts';
import { readFigures, toCommittedFigures } from '../../../infra/costs/figures.ts';
import { componentLabels, type Prices, readPrices } from '../../../infra/costs/prices.ts';
import { type MeasuredUnits, readRecordedUnits } from '../../../infra/costs/units/responseUnits.ts';
import { checkMonths } from '../../../infra/ops/costs/checkMonths.ts';
import { runPrices } from '../../../infra/ops/costs/runPrices.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stageNames, stages } from '../../../infra/stages/stages.ts';
import { mapOperations, operationIds } from '../../../shared/contract/operations.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { describeStack, useAws } from '../ops/aws.ts';
import { callOps, changeSettings, defineCommand, expectRefusal } from '../ops/opsProcess.ts';
// In the form of https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html.
import priceLists from './priceLists.json' with { type: 'json' };

const runCosts = defineCommand('costs');
const { prices } = readPrices();
const folder = openTemporaryFolder();
const writeTraffic = (text: string) => folder.write('traffic.json', text);
afterEach(() => vi.useRealTimers());

/** @returns the output; there must be no error output */
async function read(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await callOps(runCosts, args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
}

type Report = CostReport & { readonly worstMonth: WorstMonth };
const readReport = async (...args: string[]): Promise<Report> =>
  JSON.parse(await read(...args, '--json'));

const readRows = async (...args: string[]) =>
  (await read(...args)).split('\n').map((line) => line.split(/ {2,}/));
const toText = (dollars: number) => dollars.toFixed(2);
const priced = { stage: 'production', region: 'us-east-1', pricesAsOf: '2026-11-21' };

test('all requests have a row and a record each, with the cost of each component', async () => {
  const { operations, ...report } = await readReport();
  expect(report).toEqual(priced);
  const [title, head, ...rows] = await readRows();
  expect(title?.[0]).toMatch(/^Dollars per million requests, us-east-1, prices of 2026-11-21/);
  const labels = ['gateway', 'Lambda', 'reads', 'writes', 'transfer', 'logs', 'traces'];
  expect(head).toEqual(['operation', 'response', ...labels, 'total']);
  const used = [
    'gateway',
    'lambda',
    'readUnits',
    'writeUnits',
    'transfer',
    'logs',
    'tracing',
  ] as const;
  const expected = operations.map(({ operationId, response, entries, ...cost }) => {
    expect(sumDollars(cost.components)).toBeCloseTo(cost.dollarsPerMillion, 9);
    const name = entries ? `${response} of ${entries.toLocaleString('en-US')}` : response;
    const dollars = used.map((one) => cost.components[one]);
    return [operationId, name, ...[...dollars, cost.dollarsPerMillion].map(toText)];
  });
  expect(rows.slice(0, -1)).toEqual(expected);
  const names = expected.map(([id, response]) => `${id} ${response}`);
  expect(new Set(names).size).toBe(names.length);
  const some = ['getPet 200', 'listInventory 200 gzip of 100,000', 'listOrders 401'];
  expect(names).toEqual(expect.arrayContaining(some));
});

test('with --entries prices only lists of that length, without a 304 if they have several pages', async () => {
  const length = ['--entries', '200000'];
  const { operations } = await readReport(...length);
  const { month } = await readReport('month', ...length);
  const { worstMonth } = await readReport('worst', ...length);
  expect(new Set(operations.flatMap(({ entries = [] }) => entries))).toEqual(new Set([200_000]));
  expect([month.entries, worstMonth.entries]).toEqual([200_000, 200_000]);
  const kinds = operations.map(({ operationId, response }) => `${operationId} ${response}`);
  expect(kinds).not.toContain('listInventory 304');
  const lists = month.shares.filter(({ operationId }) => operationId === 'listInventory');
  expect(lists.map(({ response }) => response)).toEqual(['200', '200 gzip', '200 petId', '200']);
});

describe('a month', () => {
  test('shows its fixed part separately, and the savings', async () => {
    const typed = ['month', '--requests', 'getPet=2M'];
    const { month } = await readReport(...typed);
    expect(month.requests + month.fixed).toBeCloseTo(month.total, 9);
    const text = (await read(...typed)).replaceAll(/ {2,}/g, '  ');
    const toCells = (parts: object, total: number) =>
      [...Object.values(parts).filter((dollars) => dollars > 0), total].map(toText).join('  ');
    const { dollars = {} } = month.shares[0] ?? {};
    const fixed = Object.entries(month.fixedParts).filter(([, sum]) => sum >= 0.005);
    for (const line of [
      `getPet 200  2,000,000  ${toCells(dollars, sumDollars(dollars))}`,
      'keys, read once a minute  0.01',
      `fixed  ${toText(month.fixed)}`,
      `total  ${toCells(month.components, month.total)}`,
      `Fixed: ${fixed.map(([name, sum]) => `${componentLabels[name as 'logs']} ${toText(sum)}`).join(', ')}.`,
      '0.10  No X-Ray traces  slow requests no longer show where their time goes',
    ]) {
      expect(`\n${text}`).toContain(`\n${line}\n`);
    }
    expect(text).toMatch(/^A month of production, us-east-1.* of 1,000 entries/);
    // A metric for each operation and two more, and a cent of logs.
    const staging = (await readReport('month', '--stage', 'staging')).month.fixed;
    expect(staging).toBeCloseTo(0.3 * (operationIds.length + 2) + 0.01, 2);
  });

  test('at worst has the gateway’s own responses', async () => {
    const rows = await readRows('worst');
    expect(rows[0]?.[0]).toMatch(/^The worst month.* of 100,000 entries/);
    const { worstMonth, ...report } = await readReport('worst');
    expect(report).toEqual(priced);
    expect(rows).toContainEqual(['other paths, at their throttle', toText(worstMonth.other)]);
    expect(rows).toContainEqual(['429, at 10,000 a second', toCents(worstMonth.refusals)]);
  });

  test('has the typed traffic, as a list or a file', async () => {
    const list = 'getPet=0.002G,listInventory:gzip=500k';
    const { month } = await readReport('month', '--requests', list);
    const file = '{"requests": {"getPet": 2000000, "listInventory 200 gzip": 500000}}';
    const same = await readReport('month', '--traffic', writeTraffic(file));
    expect(same.month).toEqual(month);
    expect(month.requests).toBeCloseTo(2 * 4.53 + 0.5 * 6.35, 1);
  });

  const committed = readCommittedTraffic();
  const sum = sumRequests(committed);
  const count = ({ shares }: Pick<Traffic, 'shares'>) =>
    sumRequests({ shares: shares.filter((one) => one.operationId === 'getPet') });
  const { entries, shop = { entries: 0, shares: [] } } = committed;
  const [pets, petsOfShop, added] = [count(committed), count(shop), shop.entries];
  test.each<[args: string[], pets: number, entries: number]>([
    [[], pets, entries],
    [['--requests', `${2 * sum}`], 2 * pets, entries],
    [['--shops', '+2'], pets + 2 * petsOfShop, entries + 2 * added],
    [['--shops', '+4', '--entries', '5'], pets + 4 * petsOfShop, 5],
    [['--requests', `${sum / 10_000}k`, '--shops', '+1'], pets / 10 + petsOfShop, entries + added],
    [['--requests', 'getPet=1', '--shops', '+1'], 1 + petsOfShop, 1_000 + added],
  ])('%j is a month of that traffic', async (args, asked, length) => {
    const { month } = await readReport('month', ...args);
    expect(count(month) / asked).toBeCloseTo(1, 5);
    expect(month.entries).toBe(length);
    const names = month.shares.map(({ operationId, response }) => `${operationId} ${response}`);
    expect(new Set(names).size).toBe(names.length);
  });

  test('--months shows each month with its growth, and the sum', async () => {
    const typed = ['month', '--requests', 'getPet=1M', '--months', '3', '--growth', '10%'];
    const rows = await readRows(...typed);
    const months: Month[] = JSON.parse(await read(...typed, '--json'));
    expect(months.map(({ requests }) => requests / Number(months[0]?.requests))).toEqual(
      [1, 1.1, 1.21].map((one) => expect.closeTo(one, 2)),
    );
    const counts = ['1,000,000', '1,100,000', '1,210,000'];
    expect(rows.slice(0, -1)).toEqual([
      ['month', 'requests', 'for requests', 'fixed', 'total'],
      ...months.map(({ requests, fixed, total }, index) => [
        ...[`${index + 1}`, counts[index], ...[requests, fixed, total].map(toText)],
      ]),
      ['sum', toText(months.reduce((sum, { total }) => sum + total, 0))],
    ]);
  });
});

const committed = toCommittedFigures(readFigures().metrics, Object.values(stages));

describe('diff', () => {
  const { production } = fixtures;
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder.folder });
  const readJson = (file: string) =>
    JSON.parse(readFileSync(join(projectRoot, 'infra/costs', file), 'utf8'));
  const measured = readRecordedUnits();
  /** The files of a commit that costs the same. */
  const same = {
    'units/units.json': measured,
    'figures.json': committed,
    'prices/us-east-1.json': readPrices(),
    'sizes.json': readJson('sizes.json'),
    'traffic.json': readJson('traffic.json'),
  };
  type Files = Readonly<Partial<Record<keyof typeof same, unknown>>>;
  /** Compares with a commit that has these files. */
  const diff = async (files: Files, ...args: string[]) => {
    rmSync(folder.toPath('infra'), { recursive: true, force: true });
    for (const path of ['units', 'prices']) {
      mkdirSync(folder.toPath(`infra/costs/${path}`), { recursive: true });
    }
    for (const [file, content] of Object.entries({ ...same, ...files })) {
      if (content) folder.write(`infra/costs/${file}`, JSON.stringify(content));
    }
    git('init', '--quiet');
    git('add', '--all', 'infra');
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@petstore.example'];
    git(...author, 'commit', '--quiet', '--no-verify', '--allow-empty', '--message', 'Before');
    return callOps(runCosts, ['diff', 'HEAD', ...args], { GIT_DIR: folder.toPath('.git') });
  };
  const set = (changes: Partial<StageSettings>): Files => {
    const settings = { ...production.settings, ...changes };
    return {
      'figures.json': { ...committed, stages: { ...committed.stages, production: settings } },
    };
  };
  const measure = (change: (one: MeasuredUnits) => Partial<MeasuredUnits>): Files => ({
    'units/units.json': measured.map((one) => ({ ...one, ...change(one) })),
  });
  const without = (isLeftOut: (one: MeasuredUnits) => boolean): Files => ({
    'units/units.json': measured.filter((one) => !isLeftOut(one)),
  });
  const price = (changes: Partial<Prices>) => ({
    ...readPrices(),
    prices: { ...prices, ...changes },
  });

  const all = sumRequests(readCommittedTraffic());
  const pricing = toStagePricing(production.settings, all);
  const { alarmMetrics } = toFixedUsage(production.settings, 0, pricing);
  const always = { ...committed.metrics.always, alarmMetrics: -1 };
  const { throttles } = production.settings;
  const listRate = { listInventory: { rate: 50, burst: 200 } };
  const { requests: listed } = same['traffic.json'];
  const fewer = { ...listed, listInventory: listed.listInventory - 200_000 };
  /** Requests of the scheduled check. */
  const checks = 8_760 * operationIds.length;
  const names = ['month', 'traffic', 'worst'] as const;
  type Sums = readonly (typeof names)[number][];

  // What each commit had, and why the first sum differs since. The last are the sums that differ, if not the month's
  // and the worst month's.
  test.each<[string, Files, reasons: string[], sums?: Sums]>([
    ['all the same', {}, [], []],
    [
      'all requests traced',
      set({ tracing: { reservedPerSecond: 0, percent: 100 } }),
      [': traces -', '- traces '],
    ],
    [
      'twice the memory',
      set({ memoryMegabytes: mapOperations((id) => 2 * production.settings.memoryMegabytes[id]) }),
      [': Lambda -', '- GB-seconds of functions '],
    ],
    [
      'a tenth of a price',
      { 'prices/us-east-1.json': price({ gigabyteSeconds: 0.00000133334 }) },
      [': Lambda +', '- price of GB-seconds of functions $1.33334 → $13.3334 per million +'],
    ],
    [
      '200 bytes less a log line',
      measure(({ logBytes }) => ({ logBytes: { ...logBytes, request: logBytes.request - 200 } })),
      [': logs +', '- GB logged '],
    ],
    [
      'entries without a version, so that 1,000 take half a unit less',
      { 'sizes.json': { production: { idDigits: 19, taggedShare: 0 } } },
      [': reads +', '- read units ', '- by operation listInventory +0.0'],
    ],
    [
      'ten years of logs',
      set({ logRetentionDays: 3653 }),
      [': stored logs -', '- GB of kept logs '],
      ['month'],
    ],
    [
      'one alarm less',
      { 'figures.json': { ...committed, metrics: { ...committed.metrics, always } } },
      [': alarms +', `- metrics with an alarm ${alarmMetrics - 1} → ${alarmMetrics} +0.10`],
    ],
    [
      'no units of a response that is not in the traffic',
      without(({ operationId, response }) => operationId === 'getPet' && response === '400'),
      [' a month, as before.', '- a million of getPet 400, which it does not have, $0.00 → $'],
      ['month'],
    ],
    [
      'a firewall',
      set({ firewall: true }),
      [`: firewall -${toCents(8 + (all + checks) * 0.6e-6)}.`],
    ],
    [
      'no orders, which no figures have',
      without(({ operationId }) => operationId === 'listOrders'),
      ['- by operation listOrders +'],
    ],
    [
      'fewer lists in the traffic',
      { 'traffic.json': { ...same['traffic.json'], requests: fewer } },
      ['- by operation listInventory +'],
      ['traffic'],
    ],
    [
      'ten times as many lists let through',
      set(changeProduction({ throttles: { ...throttles, ...listRate } }).settings),
      ['- by operation listInventory -'],
      ['worst'],
    ],
    [
      'ten times as many unknown paths let through',
      set({ throttles: { ...throttles, other: { rate: 1_000, burst: 2_000 } } }),
      [': unknown paths and refusals -'],
      ['worst'],
    ],
  ])(
    'of a commit with %s has the sums that moved, and why',
    async (_, files, reasons, sums = ['month', 'worst']) => {
      const { stdout: json } = await diff(files, '--json');
      const [{ changes, before, after, ...first }] = JSON.parse(json);
      const found: Record<Sums[number], { before: number; after: number; changes: string[] }> = {
        month: { changes, before, after },
        ...first,
      };
      expect(names.filter((name) => found[name].changes.length > 0)).toEqual(sums);
      const [name] = sums;
      const { stdout } = await diff(files);
      if (!name) {
        expect(stdout).toMatch(
          /^At the traffic of \S+, nothing costs more or less than at HEAD: production \$[\d.]+ a month, at worst \$[\d.,]+; staging .*\.\n$/,
        );
        return;
      }
      const text = found[name].changes.join('\n- ');
      const heads = { month: 'At the traffic', traffic: 'By the change', worst: 'At worst, pro' };
      expect(text).toMatch(RegExp(`^${heads[name]}`));
      for (const reason of reasons) expect(text).toContain(reason);
      // In Markdown, a line right after a list would belong to it.
      const written = sums.map((one) => found[one].changes.join('\n- '));
      expect(`${stdout.trimEnd()}\n\n`).toContain(`${written.join('\n\n')}\n\n`);
    },
  );

  test('says which stage is new, and what the commit lacks', async () => {
    const stages = { production: production.settings };
    const { stdout } = await diff({ 'figures.json': { ...committed, stages } });
    expect(stdout).toMatch(
      /^At the traffic of \S+, staging is new: \$[\d.]+ a month\.\n\nAt worst, staging is new: \$[\d.,]+ a month\.\n$/,
    );
    const { stderr } = await diff({ 'traffic.json': { requests: { x: 1 } } });
    expect(stderr).toMatch(/^infra\/costs\/traffic\.json of HEAD cannot be read: .* "x"\./);
    expect(await diff({ 'figures.json': undefined })).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: 'HEAD has no infra/costs/figures.json: its month cannot be priced.\n',
    });
    expect(await callOps(runCosts, ['diff', 'nobody/knows'])).toEqual({
      ...{ status: 1, stdout: '', stderr: 'git: Not a valid object name nobody/knows\n' },
    });
  });
});

describe('check', () => {
  const { production } = fixtures;
  const worstMonthDollars = Math.ceil(toWorstMonth(production).total);
  const { total } = toStageMonth(production, readCommittedTraffic());
  const wide = { maxIncreaseDollars: 1e6, maxIncreasePercent: 1e6, worstMonthDollars: 1e6 };
  const dime = { reservedConcurrency: { getPet: 900 } };
  const lists = { listInventory: { rate: 50, burst: 100 } };
  const throttles = { ...production.settings.throttles, ...lists };
  const bounded = { accountConcurrency: 1_000, reservedConcurrency: { listInventory: 2 } };
  const past =
    'more than accepted, past its maxIncreaseDollars of \\S+ and maxIncreasePercent of \\S+\\. npx petstore costs diff REV says whether its traffic or its price rose\\.';
  const remedy =
    'To accept it, set "production": ([\\d.]+) in infra/costs/accepted\\.json; its owners in \\.github/CODEOWNERS must approve\\.';

  // The accepted month is that without the changes, times a factor; 0 is none. At the end is why the check fails, if it does.
  test.each<[string, Partial<StageSettings>, factor: number, failure?: string]>([
    ['what was accepted', { maxIncreaseDollars: 0 }, 1],
    ['less', { maxIncreasePercent: 0 }, 2],
    ['a dime', { ...dime, maxIncreaseDollars: 0.1 }, 1],
    ['a doubling', { maxIncreasePercent: 101 }, 0.5],
    ['a worst month up to the set dollar', { worstMonthDollars }, 1],
    ['throttles that the concurrency bounds', { worstMonthDollars, throttles, ...bounded }, 1],
    [
      'a dime too much',
      { ...dime, maxIncreaseDollars: 0.09 },
      1,
      `production \\$[\\d.]+ → \\$[\\d.]+ a month: \\$0\\.10 \\(0\\.\\d %\\) ${past} ${remedy}`,
    ],
    [
      'a doubling too much',
      { maxIncreasePercent: 98 },
      0.5,
      `production .*: \\$\\S+ \\((99\\.9|100\\.\\d) %\\) ${past} ${remedy}`,
    ],
    [
      'a month that nobody accepted',
      {},
      0,
      `production costs \\$\\S+ a month, and no month of it was accepted\\. ${remedy}`,
    ],
    [
      'a worst month past the set dollar',
      { worstMonthDollars: worstMonthDollars - 1 },
      1,
      `can cost \\$${worstMonthDollars}, more than its worstMonthDollars of \\d{5}\\. npx petstore costs diff REV says why\\. Lower [^.]+stages\\.ts, or raise [^.]+\\.`,
    ],
    ['higher throttles', { worstMonthDollars, throttles }, 1, 'can cost \\$\\d{5}, more .*'],
  ])('accepts or refuses %s', (_, changes, factor, failure = '') => {
    const accepted = factor ? { production: Number((total * factor).toFixed(2)) } : {};
    const found = checkMonths([changeProduction({ ...wide, ...changes })], accepted);
    const failed = found.flatMap(({ isWithin, text }) => (isWithin ? [] : [text])).join();
    const start = 'At the traffic of infra/costs/traffic\\.json, |The worst month of production ';
    expect(failed).toMatch(RegExp(failure && `^(${start})${failure}$`));
    expect(failed === '').toBe(failure === '');
  });

  test('prints the months of each stage, and whether figures.json has its settings', () => {
    const check = (figures: typeof committed) =>
      checkMonths(Object.values(stages), { staging: 1e3, production: 1e3 }, figures);
    const within = 'costs at most \\$\\d+, within its worstMonthDollars of \\d+\\.$';
    expect(check(committed).map(({ text }) => text)).toEqual([
      ...stageNames.flatMap((name) => [
        expect.stringMatching(`^The worst month of ${name} ${within}`),
        expect.stringMatching(
          `^At the traffic of .*, ${name} \\$1,000.00 → \\$[\\d.]+ a month: \\$0.00 \\(0.0 %\\) more than accepted, within its maxIncreaseDollars of \\d+ and maxIncreasePercent of \\d+\\.$`,
        ),
      ]),
      'infra/costs/figures.json is up to date.',
    ]);
    const old = { ...production.settings, firewall: true };
    const text = 'infra/costs/figures.json is out of date: commit what npm run figures writes.';
    const isOld = check({ ...committed, stages: { production: old } }).at(-1);
    expect(isOld).toEqual({ isWithin: false, text });
  });

  test('checks all stages, or that of --stage', async () => {
    for (const stage of Object.values(fixtures)) changeSettings(stage, { worstMonthDollars: 1 });
    const check = (...args: string[]) => callOps(runCosts, ['check', ...args]);
    const all = await check();
    for (const name of stageNames) {
      expect(all.stderr).toContain(`The worst month of ${name} can cost`);
    }
    const { status, stdout } = await check('--stage', 'staging', '--json');
    expect(status).toBe(1);
    const found: { stage?: string; isWithin: boolean }[] = JSON.parse(stdout);
    expect(found.map(({ stage }) => stage)).toEqual(['staging', 'staging', undefined]);
    expect(found[0]?.isWithin).toBe(false);
  });

  test('compares with a file that has an owner', () => {
    const owners = readFileSync(join(projectRoot, '.github/CODEOWNERS'), 'utf8');
    expect(owners).toMatch(/^\/infra\/costs\/accepted\.json @\S+$/m);
  });
});

describe('measure', () => {
  const toItem = (petId: string) => ({ p: { N: petId }, q: { N: '1' }, s: { S: 'a' } });
  const tagged = { ...toItem('1234567'), v: { B: 'AAAAAAA=' } };
  const entries = ['-1000000', '20', '3000000'].flatMap((petId) => [
    ...[toItem(petId), tagged, tagged, tagged],
  ]);
  const openTable = async (Items: readonly object[]) => {
    const { variables, inputsOf } = await useAws({
      ...describeStack('petstore-staging', { InventoryTableName: 'inventory-of-staging' }),
      Scan: () => ({ Items, LastEvaluatedKey: { p: { N: '7' } } }),
    });
    const run = (...args: string[]) =>
      callOps(runCosts, ['measure', '--stage', 'staging', ...args], variables);
    return { run, inputsOf };
  };

  test('describes the entries of a sample of the table, and says what to commit', async () => {
    const { run, inputsOf } = await openTable(entries);
    expect(await run()).toMatchObject({
      status: 0,
      stdout: [
        'Read 12 entries of staging.',
        'Their ids have 6.6 digits on average. 75 % have been updated, and so have a version.',
        'For infra/costs/sizes.json:',
        '  "staging": { "idDigits": 6.6, "taggedShare": 0.75 }\n',
      ].join('\n'),
    });
    expect(inputsOf('Scan')).toEqual([{ TableName: 'inventory-of-staging', Limit: 3_000 }]);
    const staging = { idDigits: 6.6, taggedShare: 0.75 };
    expect(JSON.parse((await run('--json')).stdout)).toEqual({ staging });
  });

  test('says that an empty table has no entries to measure', async () => {
    const { run } = await openTable([]);
    const stderr = 'The table inventory-of-staging has no entries to measure.\n';
    expect(await run()).toEqual({ status: 1, stdout: '', stderr });
  });
});

describe('prices', () => {
  type Lists = Readonly<Record<string, readonly object[]>>;
  const listed = {
    gatewayRequests: [
      { upTo: 333e6, dollars: 3.5e-6 },
      { upTo: 1e9, dollars: 2.8e-6 },
      { dollars: 2.38e-6 },
    ],
    ...{ functionCalls: 0.2e-6, gigabyteSeconds: 0.0000133334, streamedGigabytes: 0.008 },
    ...{ readUnits: 0.1415e-6, writeUnits: 0.7075e-6 },
    ...{ storedGigabytes: 0.283, backedUpGigabytes: 0.2264 },
    sentGigabytes: [{ upTo: 10_240, dollars: 0.09 }, { dollars: 0.085 }],
    ...{ loggedGigabytes: 0.57, storedLogGigabytes: 0.03, queriedGigabytes: 0.0057 },
    ...{ alarmMetrics: 0.1, compositeAlarms: 0.5, customMetrics: 0.3, traces: 5e-6 },
    ...{ firewalls: 5, firewallRules: 1, firewallRequests: 0.6e-6, encryptionKeys: 1 },
  };
  /** Each list in pages of three. */
  const runWith = async (changed: Lists, before?: object) => {
    const all: Lists = { ...priceLists, ...changed };
    const { variables, calls } = await useAws({
      GetProducts({ ServiceCode, NextToken = '0' }) {
        const list = all[String(ServiceCode)] ?? [];
        const next = Number(NextToken) + 3;
        return {
          PriceList: list.slice(next - 3, next).map((one) => JSON.stringify(one)),
          ...(next < list.length && { NextToken: `${next}` }),
        };
      },
    });
    const file = folder.write('eu-west-1.json', JSON.stringify({ prices: before }));
    if (!before) rmSync(file);
    const run = () => runPrices({ region: 'eu-west-1' }, pathToFileURL(file));
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 23) });
    const outcome = await callOps(run, [], variables);
    const written = existsSync(file) && JSON.parse(readFileSync(file, 'utf8'));
    return { ...outcome, calls, written };
  };

  test('writes the prices that AWS lists of the region, and keeps what it does not list', async () => {
    const before = { streamedGigabytes: 0.008, readUnits: 7 };
    const { written, calls, ...outcome } = await runWith({}, before);
    expect(outcome).toEqual({
      ...{ status: 0, stderr: '' },
      stdout: expect.stringMatching(/^Wrote infra\/costs\/prices\/eu-west-1\.json\. Commit /),
    });
    const source = 'GetProducts of the AWS Price List API';
    expect(written).toEqual({ asOf: '2026-11-23', source, prices: listed });
    expect(new Set(calls.map(({ region }) => region))).toEqual(new Set(['us-east-1']));
    const match = (Field: string, Value: string) => ({ Type: 'TERM_MATCH', Field, Value });
    const own = [match('regionCode', 'eu-west-1')];
    const sent = [match('fromRegionCode', 'eu-west-1'), match('transferType', 'AWS Outbound')];
    for (const { input } of calls) {
      expect(input.Filters).toEqual(input.ServiceCode === 'AWSDataTransfer' ? sent : own);
    }
  });

  test('of which some are missing are refused', () => {
    const file = folder.write('eu-west-1.json', '{"prices": {"gatewayRequests": 1}}');
    expect(() => readPrices('eu-west-1', pathToFileURL(file))).toThrow(
      'The prices of eu-west-1 have no functionCalls: npx petstore costs prices --region eu-west-1 reads them from AWS.',
    );
  });

  const [, request, duration] = priceLists.AWSLambda;
  const dearer = JSON.parse(JSON.stringify(request).replace('0.0000002000', '0.0000003000'));
  const twice = { AWSLambda: [request, dearer, duration] as object[] };
  test.each<[string, Lists, object | undefined, RegExp]>([
    ['no price', {}, undefined, /^AWSLambda lists no price of streamed bytes in eu-west-1\. .*\n$/],
    ['several prices', twice, { readUnits: 3 }, /^AWS lists several prices of Request-ARM\.\n$/],
  ])('writes nothing if AWS lists %s', async (_, changed, before, stderr) => {
    const { written, ...outcome } = await runWith(changed, before);
    expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(stderr) });
    expect(written).toEqual(before ? { prices: before } : false);
  });
});

const month = (...args: string[]) => ['month', ...args];
const ask = (requests: string) => month('--requests', requests);
const badTraffic = (text: string) => () => month('--traffic', writeTraffic(text));
test.each<[args: string[] | (() => string[]), line: string]>([
  [ask('getDog=1'), `The operations are ${operationIds.join(', ')}.`],
  [ask('getPet'), 'must have the form getPet=2M'],
  [ask('getPet=-1'), 'must have the form getPet=2M'],
  [ask('getPet:412=1'), 'getPet has no response "412"; it has 200, 400, 401, 404, 429.'],
  [month('--requests', 'getPet=1', '--traffic', 'x'), 'Give --requests or --traffic, not both.'],
  [month('--traffic', folder.toPath('none.json')), 'ENOENT'],
  [badTraffic(''), `${folder.toPath('traffic.json')} cannot be read: Unexpected end of JSON input`],
  [badTraffic('{}'), 'at requests'],
  [badTraffic('{"requests": {"getPet": "2M"}}'), 'at requests.getPet'],
  [badTraffic('{"requests": {"getPet": -1}}'), 'at requests.getPet'],
  [badTraffic('{"entries": -1, "requests": {}}'), 'at entries'],
  [() => [...badTraffic('{"requests": {}}')(), '--shops', '+1'], 'The traffic has no "shop"'],
  [badTraffic('{"requests": {}, "shop": {}}'), 'at shop.entries'],
  [month('--growth', '5%'), '--growth needs --months.'],
  [['measure', '--to', '2026-11-30'], '--from and --to go together.'],
])('%s is refused in one line', async (args, line) => {
  await expectRefusal(runCosts, typeof args === 'function' ? args() : args, line);
});

test("a pull request's summary shows its effect on the bill", () => {
  const workflow = readFileSync(join(projectRoot, '.github/workflows/check.yml'), 'utf8');
  expect(workflow).toContain('npx petstore costs diff HEAD^1 || echo ');
});
