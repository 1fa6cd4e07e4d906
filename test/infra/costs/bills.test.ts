import { expect, test } from 'vitest';
import {
  countFixedUsage,
  findTracedPercent,
  priceMonth,
  readPricing,
} from '../../../infra/costs/bills/monthlyBill.ts';
import { readCommittedTraffic, replaceRequests } from '../../../infra/costs/bills/traffic.ts';
import {
  sumDollars,
  toDollars,
  toDollarsPerMillion,
  toRates,
} from '../../../infra/costs/bills/usage.ts';
import { countMetrics } from '../../../infra/costs/figures.ts';
import { readPrices } from '../../../infra/costs/prices.ts';
import {
  findUnits,
  type ResponseKind,
  type ResponseUnits,
  readSizes,
} from '../../../infra/costs/units/responseUnits.ts';
import type { Stage } from '../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import {
  changedProduction,
  findProperties,
  type StageTemplates,
  synthesizeProduction,
  synthesizeStages,
  templates,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { changedSettings, changeProduction, fixtures } from '../../support/stageFixtures.ts';

const { prices } = readPrices();
const { production } = fixtures;
const unchanged = { service: templates.production, watch: watchTemplates.production };
const toPriced = (stage: Stage, { service, watch }: StageTemplates) => ({
  ...stage,
  metrics: countMetrics([service.toJSON(), watch.toJSON()]),
});
const priced = toPriced(production, unchanged);
const { settings } = production;
const { units: recorded } = readPricing(production, 1);
const measured = { idDigits: 19, taggedShare: 0 };
const toTraffic = (requests: string) => replaceRequests(readCommittedTraffic(), requests);
const units = (id: OperationId, response: ResponseKind, entries = 0) =>
  findUnits({ units: recorded, sizes: measured }, id, response, entries) as ResponseUnits;

/** X-Ray's default without a rule. */
const defaultSampling = { reservedPerSecond: 1, percent: 5 };
const pricing = { ...readPricing(production, 1), tracedPercent: 10, sizes: measured };
/** What a million such responses cost in dollars, for lists of 1,000 entries. */
const priceMillion = (id: OperationId, response: ResponseKind, priced = pricing) =>
  sumDollars(toDollarsPerMillion(units(id, response, 1_000), priced));

test('a million requests cost the sum of the prices of their units', () => {
  // Of a function with half a GB.
  const request: ResponseUnits = {
    ...{ operationId: 'listOrders', response: '200' },
    ...{ gatewayRequests: 1, functionCalls: 1, billedMilliseconds: 10 },
    ...{ readUnits: 0.5, writeUnits: 4, responseBytes: 7 * 2 ** 20 },
    logBytes: { request: 500, start: 100, report: 300, access: 124 },
  };
  const dollars = {
    gateway: 3.5,
    // Half a GB for 10 ms, and the one MB of the response above six.
    lambda: 0.2 + 0.5 * 0.01 * 13.3334 + (1e6 / 1_024) * 0.008,
    readUnits: 0.0625,
    writeUnits: 2.5,
    transfer: ((7 * 1e6) / 1_024) * 0.09,
    logs: (1e6 / 2 ** 20) * 0.5,
    tracing: 0.5,
    firewall: 0.6,
    ...{ alarms: 0, metrics: 0, encryptionKeys: 0, storage: 0, storedLogs: 0 },
  };
  const close = Object.entries(dollars).map(([name, sum]) => [name, expect.closeTo(sum, 6)]);
  const withFirewall = { ...pricing, hasFirewall: true };
  expect(toDollarsPerMillion(request, withFirewall)).toEqual(Object.fromEntries(close));
  const refused = { ...request, gatewayRequests: 0, functionCalls: 0 };
  const none = { gateway: 0, lambda: 0, tracing: 0, firewall: 0, transfer: close[4]?.[1] };
  expect(toDollarsPerMillion(refused, pricing)).toMatchObject(none);
});

// With the bytes of units.json, and prices per million units, per GB-second in millions, and per GB.
const gb = 2 ** 30 / 1e6;
const dearer = { ...prices, readUnits: 0.1415e-6, writeUnits: 0.7075e-6, loggedGigabytes: 0.57 };
test.each<[string, typeof prices, readUnit: number, writeUnit: number, logged: number]>([
  ['us-east-1', prices, 0.125, 0.625, 0.5],
  ['a dearer region', dearer, 0.1415, 0.7075, 0.57],
])('a million reads and sales in %s cost as by hand', (_, own, readUnit, writeUnit, logged) => {
  const priced = { ...pricing, prices: own, tracedPercent: 0 };
  const read = 3.7 + 0.005 * 13.3334 + readUnit + (652 * 0.09 + 1_173 * logged) / gb;
  expect(priceMillion('getInventoryEntry', '200', priced)).toBeCloseTo(read, 9);
  // Two units for the entry, two for the outcome, and a consistent read.
  const one = 3.7 + 0.01 * 13.3334 + readUnit + 4 * writeUnit;
  const adjustment = one + (649 * 0.09 + 1_176 * logged) / gb;
  expect(priceMillion('adjustInventory', '200', priced)).toBeCloseTo(adjustment, 9);
  const cart = one + 9 * readUnit + 18 * writeUnit + (1_227 * 0.09 + 1_179 * logged) / gb;
  expect(priceMillion('adjustInventory', '200 cart', priced)).toBeCloseTo(cart, 9);
});

test.each([
  ['200', 7.3],
  ['200 cart', 20],
] as const)(
  'a million sales with %s cost at most $%d, even if each looks its key up',
  (kind, dollars) => {
    const tracedPercent = settings.tracing.percent;
    const keys = prices.readUnits as number;
    const million = priceMillion('adjustInventory', kind, { ...pricing, tracedPercent });
    expect(million + 1e6 * keys).toBeLessThanOrEqual(dollars);
  },
);

test('the outcomes of a month of adjustments are stored and backed up, but replays are not', () => {
  const countStored = (requests: string) => priceMonth(priced, toTraffic(requests), pricing).usage;
  const none = countStored('adjustInventory:replay=10M').storedGigabytes;
  const requests = 'adjustInventory=10M,adjustInventory:cart=1M,adjustInventory:409=1M';
  const { storedGigabytes, backedUpGigabytes } = countStored(requests);
  const gigabytes = (10e6 * 199 + 1e6 * 407 + 1e6 * 410) / 2 ** 30;
  expect(storedGigabytes - none).toBeCloseTo(gigabytes, 9);
  expect(backedUpGigabytes).toBe(storedGigabytes);
});

test('lists of other lengths are interpolated between two measured ones, or extrapolated', () => {
  const list = (entries: number) => units('listInventory', '200', entries);
  const [short, middle, long] = [list(1_000), list(10_000), list(100_000)];
  const added = ((middle.responseBytes - short.responseBytes) * 4_600) / 9_000;
  expect(list(5_600)).toMatchObject({
    // From 2.5 to 22.5, in halves.
    readUnits: 12.5,
    responseBytes: Math.round(short.responseBytes + added),
    // 25 ms of 1,000 entries, 700 ms of 100,000.
    billedMilliseconds: Math.ceil(25 + (675 * 4_600) / 99_000),
    gatewayRequests: 1,
  });
  const responseBytes = 2 * long.responseBytes - middle.responseBytes;
  // 12.1 MB are two steps of 10 MB.
  expect(list(190_000)).toMatchObject({ responseBytes, gatewayRequests: 2 });
  expect(list(100)).toMatchObject({ readUnits: 0.5 });
});

test('a list has a 304 if it fits into a page of a Scan', () => {
  const find = (entries: number) => findUnits({ units: recorded }, 'listInventory', '304', entries);
  expect([9_000, 42_000, 44_000].map((entries) => !find(entries))).toEqual([false, false, true]);
});

test.each([
  // 18 bytes with 19 digits, in an inventory with minus signs; 6 more for a version; 6 fewer with 7 digits.
  ['no versions', { idDigits: 19, taggedShare: 0 }, 222],
  ['versions', { idDigits: 19, taggedShare: 1 }, 295.5],
  ['versions of half of them', { idDigits: 19, taggedShare: 0.5 }, 259],
  ['short ids', { idDigits: 7, taggedShare: 0 }, 146],
])('a scan of 100,000 entries with %s takes units by its bytes', (_, sizes, readUnits) => {
  const found = findUnits({ units: recorded, sizes }, 'listInventory', '200', 100_000);
  // Bytes ÷ 4,096, in halves; the ends of 2 or 3 pages may add to it.
  expect(found?.readUnits).toBeCloseTo(readUnits, -1);
});

test.each([
  ['{"production": {"idDigits": 7.5, "taggedShare": 0.25}}', { idDigits: 7.5, taggedShare: 0.25 }],
  ['{"staging": {"idDigits": 7, "taggedShare": 0}}', { idDigits: 19, taggedShare: 1 }],
  ['{"production": {"idDigits": 20, "taggedShare": 0}}', /^infra.costs.sizes.json: .*n\.idDigits/s],
  ['{"production": {"idDigits": 7}}', /^infra.costs.sizes.json: .*at production\.taggedShare/s],
])('the sizes %s are read, or refused', (text, expected) => {
  const read = () => readSizes('production', text);
  if (expected instanceof RegExp) expect(read).toThrow(expected);
  else expect(read()).toEqual(expected);
});

test.each([
  // 2,628,000 seconds a month: more than 1 M requests; of 100 M, 2.628 M + 5 % of 97.372 M.
  [defaultSampling, 1e6, 100],
  [defaultSampling, 100e6, 2.628 + 0.05 * 97.372],
  [fixtures.production.settings.tracing, 1e6, 1],
  [{ reservedPerSecond: 1, percent: 0 }, 0, 100],
  [{ reservedPerSecond: 0, percent: 7 }, 0, 7],
])('with %j, of %i requests a month %d %% are traced', (sampling, requests, percent) => {
  expect(findTracedPercent(sampling, requests)).toBeCloseTo(percent, 6);
});

test('a key is read again each minute: 43,800 minutes × $0.125 a million, for each called operation', () => {
  const traffic = toTraffic('updateInventory=1M,listOrders=1k,listOrders:401=1k,listOrders:429=1k');
  const { keyReads } = priceMonth(priced, traffic, pricing);
  expect(keyReads).toBeCloseTo((44_800 * 0.125) / 1e6, 9);
});

test('the fixed part is units times prices', () => {
  const metrics = { alarmMetrics: 74, compositeAlarms: 2, customMetrics: 4 };
  const own = { ...changeProduction({ firewall: true }), metrics };
  // By hand for these alone: what was not measured is not checked.
  const ids = ['listInventory', 'getInventoryEntry', 'updateInventory', 'listOrders'];
  const units = pricing.units.filter(({ operationId }) => ids.includes(operationId));
  const fixed = countFixedUsage(own, 1e9 / 118, { ...pricing, units, hasFirewall: true });
  const dollars = toDollars(fixed, toRates(prices));
  const [checks, calls] = [8_760, 4 * 8_760];
  expect(Object.entries(dollars).filter(([, sum]) => sum > 0)).toEqual([
    ['gateway', expect.closeTo(calls * 3.5e-6, 9)],
    // The check's second with a quarter of a GB, 19 ms of a list with a GB, and 10 + 2 + 10 ms with half of one.
    [
      'lambda',
      expect.closeTo((calls + checks) * 0.2e-6 + checks * (0.25 + 0.019 + 0.011) * 0.0000133334, 9),
    ],
    // Of the operations 0.5 + 1 + 0 + 0.5, since it asks for one order, the key of each, and two of the check itself.
    ['readUnits', expect.closeTo(checks * (2 + 4 + 2) * 0.125e-6, 9)],
    // A deprecated operation sends more headers.
    ['transfer', expect.closeTo(((checks * 2_900) / 2 ** 30) * 0.09, 3)],
    ['logs', expect.closeTo(((checks * 4_703) / 2 ** 30) * 0.5, 9)],
    [
      'storedLogs',
      expect.closeTo(((checks * 4_703) / 2 ** 30) * 0.15 * 0.03 * (90 / (730 / 24)), 9),
    ],
    ['tracing', expect.closeTo(calls * 0.1 * 5e-6, 9)],
    ['firewall', expect.closeTo(5 + 7 * 1 + calls * 0.6e-6, 9)],
    ['alarms', expect.closeTo(74 * 0.1 + 2 * 0.5)],
    ['metrics', expect.closeTo(1.2)],
    ['encryptionKeys', 1],
    ['storage', expect.closeTo((1e9 / 2 ** 30) * (0.25 + 0.2), 6)],
  ]);
});

const topic = 'arn:aws:sns:eu-west-1:123456789012:pagers';
const ownTopics = { alarms: { page: topic, ticket: topic } };
const atOnce = { rollout: 'atOnce' } as const;
const { staging } = fixtures;
const quiet = { ...staging, settings: { ...staging.settings, accountConcurrency: 1_000 } };
const synthesizeQuiet = () => synthesizeStages([quiet]).staging;
test.each<[string, Stage, () => StageTemplates]>([
  ['production', production, () => unchanged],
  ['a changed one', changeProduction(changedSettings), changedProduction],
  ['one without roll-back', changeProduction(atOnce), () => synthesizeProduction(atOnce)],
  [
    'one with topics of its own',
    changeProduction(ownTopics),
    () => synthesizeProduction(ownTopics),
  ],
  ['one that keeps nothing', quiet, synthesizeQuiet],
])('the monthly units in the settings of %s match its stacks', (_, stage, stacks) => {
  const built = stacks();
  const usage = countFixedUsage(toPriced(stage, built), 1, pricing);
  const isBackedUp = usage.backedUpGigabytes === usage.storedGigabytes;
  expect({ ...usage, isBackedUp }).toEqual({ ...usage, ...countFixedUnits(built) });
});

test('monitoring production costs at most 16 dollars a month, as infra/README.md says', () => {
  const fixed = toDollars(countFixedUsage(priced, 0, pricing), toRates(prices));
  const monitoring = fixed.alarms + fixed.metrics + fixed.encryptionKeys + fixed.lambda;
  // With up to six operations.
  const further = Math.max(0, operationIds.length - 6);
  expect(monitoring).toBeLessThanOrEqual(16 + 2.5 * further);
});

test('an alarm counts for each of its metrics, and a custom metric once with each dimension', () => {
  const toFilter = (MetricName: string, Key?: string) => ({
    Type: 'AWS::Logs::MetricFilter',
    Properties: { MetricTransformations: [{ MetricName, ...(Key && { Dimensions: [{ Key }] }) }] },
  });
  const toAlarm = (Properties: object) => ({ Type: 'AWS::CloudWatch::Alarm', Properties });
  const service = {
    Resources: {
      plain: toAlarm({ MetricName: 'Errors' }),
      math: toAlarm({ Metrics: [{ Expression: 'a+b' }, { MetricStat: {} }, { MetricStat: {} }] }),
      all: { Type: 'AWS::CloudWatch::CompositeAlarm' },
      table: { Type: 'AWS::DynamoDB::Table' },
    },
  };
  const filters = [toFilter('Served'), toFilter('Served'), toFilter('Served', 'route')];
  const watch = {
    Resources: {
      ...Object.fromEntries(filters.entries()),
      own: toAlarm({ MetricName: 'Silence' }),
    },
  };
  const counts = { alarmMetrics: 4, compositeAlarms: 1, customMetrics: 2 };
  expect(countMetrics([service, {}, watch])).toEqual(counts);
});

const findOfStage = ({ service, watch }: StageTemplates, type: string) =>
  [service, watch].flatMap((template) => findProperties(template, type));

/** Counts a stage's resources that are billed by the month. */
function countFixedUnits(stage: StageTemplates) {
  const [rule] = findOfStage(stage, 'AWS::Events::Rule');
  const [, every] = /^rate\((\d+) minutes?\)$/.exec(rule?.ScheduleExpression) ?? [];
  const checks = rule ? (730 * 60) / Number(every) : 0;
  const firewalls = findOfStage(stage, 'AWS::WAFv2::WebACL');
  return {
    encryptionKeys: findOfStage(stage, 'AWS::KMS::Key').length,
    gatewayRequests: checks * operationIds.length,
    functionCalls: checks * (1 + operationIds.length),
    firewalls: firewalls.length,
    firewallRules: firewalls.flatMap(({ Rules }) => Rules).length,
    isBackedUp: JSON.stringify(stage.service).includes('"PointInTimeRecoveryEnabled":true'),
  };
}
