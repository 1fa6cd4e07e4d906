import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { priceService } from '../../../infra/costs/bills/costReport.ts';
import { priceWorstMonth } from '../../../infra/costs/bills/monthlyBill.ts';
import { parseTraffic } from '../../../infra/costs/bills/traffic.ts';
import { sumDollars, sumOf } from '../../../infra/costs/bills/usage.ts';
import { withMetrics } from '../../../infra/costs/costOptions.ts';
import { renderCosts } from '../../../infra/costs/costsText.ts';
import { readPrices } from '../../../infra/costs/prices.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import type { StageName } from '../../../infra/stages/stages.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { callOps, defineCommand } from '../ops/opsProcess.ts';

const { production } = fixtures;
// A team's `sizes.json` and `traffic.json` change none of these: no sizes have this name, and this is the tests' traffic.
const name = 'unmeasured' as StageName;
const priced = { ...(await withMetrics(production)), name };
const priceWorst = (changes: Partial<StageSettings>) =>
  priceWorstMonth({ ...priced, ...changeProduction(changes), name });
const ofTests = {
  entries: 1_000,
  requests: {
    getInventoryEntry: 52_500,
    adjustInventory: 980_000,
    'adjustInventory 200 cart': 10_000,
    'adjustInventory 200 replay': 10_000,
    'adjustInventory 409': 50_000,
    updateInventory: 50_000,
    'updateInventory 412': 2_500,
    listInventory: 300_000,
    'listInventory 200 gzip': 500_000,
    'listInventory 200 petId': 500_000,
    'listInventory 304': 200_000,
    listOrders: 100_000,
  },
};
const SECONDS = 2_628_000;

const componentsOf = {
  'API Gateway': ['gateway'],
  Lambda: ['lambda'],
  DynamoDB: ['readUnits', 'writeUnits', 'storage'],
  transfer: ['transfer'],
  CloudWatch: ['logs', 'storedLogs', 'alarms', 'metrics'],
  'X-Ray': ['tracing'],
} as const;

/** Such an operation has more headers. */
const isDeprecated = (id: OperationId) =>
  (operations[id] as Operation).lifecycle.kind === 'deprecated';

describe('the worst month', () => {
  const worst = priceWorstMonth(priced);
  const find = (id: string) => worst.shares.find((share) => share.operationId === id)?.units;

  it('asks each operation for the most expensive of what the contract lets it be asked', () => {
    const asked = worst.shares.map(({ operationId, units }) => [operationId, units?.request]);
    expect(Object.fromEntries(asked)).toMatchObject({
      listInventory: 'include=etag',
      getInventoryEntry: undefined,
      updateInventory: undefined,
      adjustInventory: '10 pending pets, to sell the most, Idempotency-Key',
      listOrders: 'limit=1000',
    });
    // 1,000 orders of 173 bytes each.
    const bytes = isDeprecated('listOrders') ? expect.any(Number) : 174_470;
    expect(find('listOrders')).toMatchObject({ readUnits: 22.5, responseBytes: bytes });
    // A 412.
    expect(find('updateInventory')).toMatchObject({ writeUnits: 1, readUnits: 1 });
    // Ten entries and a row in a transaction, and then the refusal of more than 2 KB.
    expect(find('adjustInventory')).toMatchObject({ writeUnits: 25 });
  });

  it('traces every request that is let through, since a client can force that', () => {
    const rates = Object.values(production.settings.throttles).map(({ rate }) => rate);
    const { usage, other } = worst;
    const checks = operationIds.length * 8_760;
    const others = production.settings.throttles.other.rate * SECONDS;
    expect(other.tracing).toBeCloseTo(others * 5e-6, 6);
    expect(usage.traces + others).toBe(sumOf(rates, (rate) => rate) * SECONDS + checks);
  });

  it('has a slow reader for each list until the function’s timeout, as far as the concurrency goes', () => {
    expect(find('listInventory')).toMatchObject({ billedMilliseconds: 119_000 });
    const { shares } = priceWorst({
      accountConcurrency: 1_000,
      reservedConcurrency: { listInventory: 2 },
    });
    const [list] = shares;
    // Two at once, so that lists which are read at once are the most expensive use of them.
    expect(list?.units?.billedMilliseconds).toBe(700);
    expect(list?.requests).toBeCloseTo((2 / 0.7) * SECONDS, 6);
  });

  it('counts lines of log with the longest User-Agent, also of refused requests', () => {
    expect(find('getInventoryEntry')?.logBytes.access).toBeGreaterThan(10_240);
    const { rates, refusals } = worst;
    // 291 bytes and 10 KB of log, 705 bytes of response.
    const each = ((291 + 10_240) * rates.loggedGigabytes + 705 * rates.sentGigabytes) / 2 ** 30;
    expect(sumDollars(refusals)).toBeCloseTo(10_000 * SECONDS * each, 0);
  });

  it('repeats writes on the same entries, up to the units that the tables allow', () => {
    const { maximumUnitsPerSecond } = production.settings;
    const none = { read: 1, write: 0 };
    const maximum = { ...maximumUnitsPerSecond, pets: none, orders: none };
    // By hand for the writes of these two alone.
    const writes = ['updateInventory', 'adjustInventory', 'other'];
    const others = Object.entries(production.settings.throttles).map(([id, { rate, burst }]) => [
      id,
      { rate: writes.includes(id) ? rate : 0, burst },
    ]);
    const throttles: StageSettings['throttles'] = Object.fromEntries(others);
    const priceConflicts = (changes: Partial<StageSettings> = {}) =>
      priceWorst({ throttles, maximumUnitsPerSecond: maximum, ...changes });
    const { conflicts, usage, rates, total } = priceConflicts();
    const written = (500 * 1 + 200 * 25) * SECONDS;
    const allowed = (maximum.inventory.write + maximum.requests.write) * SECONDS;
    expect(usage.writeUnits).toBeCloseTo(written, 0);
    expect(conflicts.writeUnits).toBeCloseTo((allowed - written) * rates.writeUnits, 4);
    // Pauses of 2.75 s on average and nine further attempts, with half a GB.
    const seconds = 500 * (2.75 + 9 * 0.015) + 200 * (2.75 + 9 * 0.02);
    expect(conflicts.lambda).toBeCloseTo(seconds * 0.5 * SECONDS * rates.gigabyteSeconds, 2);
    const bounded = priceConflicts({ accountConcurrency: 1_000 }).conflicts;
    expect(bounded.lambda).toBeCloseTo(1_000 * 0.5 * SECONDS * rates.gigabyteSeconds, 2);
    const roomy = { write: 1_000_000, read: 1 };
    const more = priceConflicts({
      maximumUnitsPerSecond: { ...maximum, inventory: roomy },
    }).conflicts;
    expect(more.writeUnits).toBeCloseTo(9 * written * rates.writeUnits, 2);
    expect(total).toBeGreaterThan(sumDollars(conflicts));
  });

  it('counts the gateway’s own responses and refusals at the steps of the prices', () => {
    const { usage, other, rates } = worst;
    const unknown = 100 * SECONDS;
    const requests = usage.gatewayRequests + unknown;
    const steps = 333 * 3.5 + 667 * 2.8 + (requests / 1e6 - 1_000) * 2.38;
    expect(rates.gatewayRequests * requests).toBeCloseTo(steps, 6);
    expect(other.gateway).toBeCloseTo(unknown * rates.gatewayRequests, 6);
  });
});

describe('npx petstore costs', () => {
  const traffic = parseTraffic(JSON.stringify(ofTests), 'traffic.test.json');
  const costs = priceService(priced, traffic);
  const text = renderCosts(costs);

  it('says what the typical request is: a default page of 100 orders, not of twenty', () => {
    const orders = costs.operations.find(({ operationId }) => operationId === 'listOrders');
    expect(orders).toMatchObject({ typical: 'a page of 100', mostExpensive: 'limit=1000' });
  });

  // Per million: what a call costs, half or a whole GB for so many ms, units, bytes sent and logged, and 1 % of traces.
  test.each([
    ['us-east-1', 3.5, 0.125, 0.625, 0.5],
    ['eu-central-1', 3.7, 0.1525, 0.7625, 0.63],
  ])(
    'prices a request of each operation and a sale in %s as by hand',
    (region, gateway, readUnit, writeUnit, log) => {
      const inRegion = { ...priced, settings: { ...priced.settings, region } };
      const { operations, sales } = priceService(inRegion, traffic);
      const gb = 2 ** 30 / 1e6;
      const toSum = (
        seconds: number,
        reads: number,
        writes: number,
        sent: number,
        logged: number,
      ) =>
        gateway +
        0.2 +
        seconds * 13.3334 +
        reads * readUnit +
        writes * writeUnit +
        (sent * 0.09 + logged * log) / gb +
        0.05;
      const found = Object.fromEntries(
        operations.map((one) => [one.operationId, one.typicalDollars]),
      );
      const hands = {
        // 1,000 entries with a version each are 2.5 units, and 6,000 bytes more half of one.
        listInventory: toSum(0.03, 3, 0, 15_421, 1_193),
        getInventoryEntry: toSum(0.005, 1, 0, 652, 1_173),
        updateInventory: toSum(0.005, 0, 1, 651, 1_173),
        adjustInventory: toSum(0.01, 1, 4, 649, 1_176),
        listOrders: toSum(0.0065, 2.5, 0, 18_072, 1_166),
      };
      for (const [id, sum] of Object.entries(hands)) {
        if (!isDeprecated(id as OperationId)) expect(found[id]).toBeCloseTo(sum, 6);
      }
      expect(sales[0]?.marginal).toBeCloseTo(hands.adjustInventory, 6);
      expect(sales[1]?.marginal).toBeCloseTo(toSum(0.01, 10, 22, 1_227, 1_179), 6);
    },
  );

  it('titles each table with stage, region, date of the prices, and where its traffic is from', () => {
    const titles = text.split('\n').filter((line) => line.includes(', in dollars: '));
    expect(titles).toHaveLength(4);
    const { asOf } = readPrices();
    for (const title of titles)
      expect(title).toContain(`${name}, us-east-1, list prices of ${asOf}`);
    expect(titles.filter((title) => title.includes('traffic of traffic.test.json'))).toHaveLength(
      2,
    );
    expect(titles[3]).toContain('every throttle used up by a valid key; 100,000 entries');
  });

  it('says that a region’s prices have no steps, so that its worst month is too high', () => {
    const renderIn = (region: string) => {
      const inRegion = { ...priced, settings: { ...priced.settings, region } };
      return renderCosts(priceService(inRegion, traffic));
    };
    expect(renderIn('eu-west-1')).toMatch(
      /\nThe prices of eu-west-1 .* in the worst month, is priced too high\.$/m,
    );
    expect(renderIn('us-west-2')).not.toContain('too high');
  });

  it.each(['A month', 'The worst month'])('adds up across and down in the table of %s', (title) => {
    const [, table = ''] = text.split(RegExp(`^${title}.*\n`, 'm'));
    const [head = '', ...rows] = table
      .split('\n')
      .filter((line) => /^\S.* [\d,.]+ *$|requests /.test(line));
    const from = head.indexOf('API Gateway');
    const cents = rows.map((row) =>
      row
        .slice(from)
        .trim()
        .split(/\s+/)
        .map((cell) => Math.round(Number(cell.replaceAll(',', '')) * 100)),
    );
    const last = rows.findIndex((row) => row.startsWith('total'));
    const own = cents.slice(0, last);
    for (const row of cents.slice(0, last + 1)) {
      expect(sumOf(row.slice(0, -1), (one) => one)).toBe(row.at(-1));
    }
    cents[last]?.forEach((sum, column) => {
      expect(sumOf(own, (row) => row[column] ?? 0)).toBe(sum);
    });
    // As on an invoice, the total of each service is within a cent.
    const { rows: exact } = title === 'A month' ? costs.month : costs.worstMonth;
    const names = head.slice(from).trim().split(/ {2,}/);
    for (const [name, parts] of Object.entries(componentsOf)) {
      const paid = sumOf(exact, ({ dollars }) => sumOf(parts, (part) => dollars[part] ?? 0));
      const off = Number(cents[last]?.[names.indexOf(name)]) - 100 * paid;
      expect(Math.abs(off), name).toBeLessThan(1);
    }
  });

  it('puts what one more sale costs beside its share of the month', () => {
    const [one, cart] = costs.sales;
    const sales = 990_000;
    const sold = traffic.shares.filter(
      ({ operationId, response }) =>
        operationId === 'adjustInventory' && /^200( cart)?$/.test(response),
    );
    expect(sumOf(sold, ({ requests }) => requests)).toBe(sales);
    // All sales together bear the whole month.
    const full = (980_000 * Number(one?.full) + 10_000 * Number(cart?.full)) / 1e6;
    expect(full).toBeCloseTo(costs.month.total, 6);
    expect(Number(one?.full) - Number(one?.marginal)).toBeCloseTo(
      Number(cart?.full) - Number(cart?.marginal),
      6,
    );
    const none = priceService(priced, { ...traffic, shares: [] });
    expect(renderCosts(none)).toMatch(/^a sale of one pet +\d+\.\d\d +-$/m);
  });

  it('keeps what grows with requests apart from what is fixed', () => {
    const twice = {
      ...traffic,
      shares: traffic.shares.map((one) => ({ ...one, requests: 2 * one.requests })),
    };
    const toRow = (name: string, { month }: typeof costs) =>
      sumDollars(month.rows.find((row) => row.name.startsWith(name))?.dollars ?? {});
    const more = priceService(priced, twice);
    expect(toRow('fixed', more)).toBeCloseTo(toRow('fixed', costs), 9);
    expect(toRow('kept', more)).toBeCloseTo(2 * toRow('kept', costs), 2);
  });
});

describe('npx petstore costs check REV', () => {
  const folder = openTemporaryFolder();
  const run = defineCommand('costs');
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@petstore.example'];
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: folder.folder, stdio: 'pipe' });
  const check = (revision: string, clone: string) =>
    callOps(run, ['check', revision], { GIT_DIR: join(folder.folder, clone, '.git') });

  it('refuses what this clone does not have, where git would compare with another commit', async () => {
    git('init', '--quiet', '--initial-branch=main', 'origin');
    for (const name of ['first', 'second']) {
      git('-C', 'origin', ...author, 'commit', '--quiet', '--allow-empty', '--message', name);
    }
    git('clone', '--quiet', 'origin', 'fresh');
    git('clone', '--quiet', '--depth=1', `file://${join(folder.folder, 'origin')}`, 'shallow');
    const week = await check('main@{1.week.ago}', 'fresh');
    expect(week).toMatchObject({ status: 1, stdout: '' });
    expect(week.stderr).toMatch(
      /^This clone cannot tell which commit main@\{1\.week\.ago\} is: log for '\S+' only goes back to/,
    );
    const shallow = await check('HEAD^1', 'shallow');
    expect(shallow.stderr).toMatch(/cannot tell which commit HEAD\^1 is: .* The clone is shallow/);
    for (const unknown of ['nobody/knows', '--all', '']) {
      expect(await check(unknown, 'fresh')).toMatchObject({
        status: expect.any(Number),
        stdout: '',
      });
    }
  });
});
