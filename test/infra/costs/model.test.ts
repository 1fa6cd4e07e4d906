import { pathToFileURL } from 'node:url';
import { describe, expect, it, test } from 'vitest';
import { findTracedShare, priceMonth, priceService } from '../../../infra/costs/model.ts';
import { listPrices, readPrices, toUnitDollars, usualRegion } from '../../../infra/costs/prices.ts';
import { countResources, type PricedStage } from '../../../infra/costs/resources.ts';
import { readTraffic } from '../../../infra/costs/traffic.ts';
import { findUnits } from '../../../infra/costs/units.ts';
import type { Stage } from '../../../infra/stages/stages.ts';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import {
  changedProduction,
  findProperties,
  type StageTemplates,
  synthesizeStages,
  templates,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { changedSettings, changeProduction, fixtures } from '../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

const folder = openTemporaryFolder();
const { prices } = readPrices();
const { production, staging } = fixtures;

function toPriced({ settings, name }: Stage, resources = {}, region = usualRegion): PricedStage {
  return { name, settings, resources, region, ...readPrices(region) };
}
const priced = toPriced(production);
const toTraffic = (requests: string) => readTraffic({ requests });
const price = (stage: PricedStage, requests: string) =>
  priceService(stage, toTraffic(requests), 1_000);
const findRequest = (stage: PricedStage, id: string, requests: string) =>
  price(stage, requests).requests.find(({ operationId }) => operationId === id)?.usual.dollars;

/*
 * By hand, with AWS's list prices of us-east-1 of 2026-11-21 and the units of infra/costs/units.json. In dollars, for a
 * million:
 *
 *   API Gateway's REST API                 3.50 a million requests
 *   Lambda on arm64                        0.20 a million calls, 13.3334 a million GB-seconds
 *   DynamoDB on demand                     0.125 a million read units, 0.625 a million write units
 *   transfer to the internet               0.09 a GB of 1,073,741,824 bytes
 *   CloudWatch, logs of Lambda             0.50 a GB
 *   X-Ray                                  5.00 a million traces, of 1 % of the requests
 *
 *   A list of 1,000 entries with gzip: 30 ms with 1 GB, 3 read units, 15,421 bytes sent, 1,191 bytes logged
 *     3.50 + 0.20 + 0.030 × 13.3334 + 3 × 0.125 + 15,421 × 0.09 / 1,073.741824 + 1,191 × 0.50 / 1,073.741824 + 0.05
 *     = 3.50 + 0.20 + 0.4000 + 0.375 + 1.2926 + 0.5546 + 0.05 = 6.3722
 *   A sale of one pet: 20 ms with 0.5 GB, 1 read unit, 4 write units, 650 bytes sent, 1,176 bytes logged
 *     3.50 + 0.20 + 0.010 × 13.3334 + 0.125 + 4 × 0.625 + 650 × 0.09 / 1,073.741824 + 1,176 × 0.50 / 1,073.741824 + 0.05
 *     = 3.50 + 0.20 + 0.1333 + 0.125 + 2.5 + 0.0545 + 0.5476 + 0.05 = 7.1104
 *   A cart of ten: 10 read units, 22 write units, 1,254 bytes sent, 1,179 bytes logged
 *     3.50 + 0.20 + 0.1333 + 1.25 + 13.75 + 0.1051 + 0.5490 + 0.05 = 19.5374
 */
test('a million lists, sales and carts cost what they cost by hand', () => {
  expect(findRequest(priced, 'listInventory', 'listInventory:gzip=1')).toBeCloseTo(6.3722, 2);
  expect(findRequest(priced, 'adjustInventory', 'adjustInventory=1')).toBeCloseTo(7.1104, 2);
  const { sale, cart } = price(priced, 'listOrders=1');
  expect(sale.dollars).toBeCloseTo(7.1104, 2);
  expect(cart.dollars).toBeCloseTo(19.5374, 2);
});

/*
 * By hand, of the same prices, and WAF at 5.00 a firewall, 1.00 a rule and 0.60 a million requests, alarms at 0.10 a
 * metric and 0.50 a composite one, metrics at 0.30, an encryption key at 1.00, tables at 0.25 and their backups at 0.20 a
 * GB, kept logs at 0.03 a GB:
 *
 *   500,000 lists with gzip, without a trace  (6.3722 − 0.05 + 0.60) / 2              =  3.4611
 *   1,000,000 sales, without a trace           7.1104 − 0.05 + 0.60                   =  7.6604
 *   keys: 2 operations × 43,800 minutes × 0.125 a million                              =  0.0110
 *   kept logs: (500,000 × 1,191 + 1,000,000 × 1,176) bytes = 1.6498 GB
 *     × 15 % compressed × 90 days / 30.4167 days × 0.03                               =  0.0220
 *   kept outcomes: 1,000,000 × 200 bytes = 0.1863 GB × (0.25 + 0.20)                  =  0.0838
 *   fixed: 74 × 0.10 + 2 × 0.50 + 4 × 0.30 + 1.00 + 5.00 + 6 × 1.00
 *     + 1,000 entries × 124 bytes × (0.25 + 0.20) a GB                                = 21.6001
 *   together                                                                            32.8384
 */
const quiet = { ...staging.settings, tracing: { reservedPerSecond: 0, percent: 0 } } as const;
const protectedStage = {
  ...quiet,
  firewall: true,
  logRetentionDays: 90,
  protectsData: true,
} as const;
const resources = {
  ...{ alarmMetrics: 74, compositeAlarms: 2, customMetrics: 4 },
  ...{ encryptionKeys: 1, firewalls: 1, firewallRules: 6 },
};
test('a month costs what it costs by hand', () => {
  const stage = toPriced({ ...staging, settings: protectedStage }, resources);
  const month = priceMonth(stage, toTraffic('listInventory:gzip=500k,adjustInventory=1M'));
  const sums = month.rows.map(({ name, dollars }) => [
    name,
    Object.values(dollars).reduce((sum, one) => sum + one, 0),
  ]);
  expect(sums).toEqual([
    ['listInventory', expect.closeTo(3.4611, 2)],
    ['adjustInventory', expect.closeTo(7.6604, 2)],
    ['keys, read once a minute', expect.closeTo(0.011, 2)],
    ['stored logs and outcomes', expect.closeTo(0.1058, 2)],
    ['fixed, even without requests', expect.closeTo(21.6001, 2)],
  ]);
  expect(month.total).toBeCloseTo(32.8384, 2);
});

test.each([
  ['us-east-1', 3.5, 0.125, 0.625, 0.5],
  ['eu-central-1', 3.7, 0.1525, 0.7625, 0.63],
])('requests in %s have the prices of the region', (region, gateway, read, write, log) => {
  const stage = toPriced(production, {}, region);
  const gb = 2 ** 30 / 1e6;
  const toSum = (reads: number, writes: number, sent: number, logged: number) =>
    gateway +
    0.2 +
    0.005 * 13.3334 +
    reads * read +
    writes * write +
    (sent * 0.09 + logged * log) / gb +
    0.05;
  const found = findRequest(stage, 'getInventoryEntry', 'getInventoryEntry=1');
  expect(found).toBeCloseTo(toSum(1, 0, 653, 1_173), 3);
  const update = findRequest(stage, 'updateInventory', 'updateInventory=1');
  expect(update).toBeCloseTo(toSum(0, 1, 653, 1_173), 3);
});

test('a price with steps is the average of the steps that a month reaches', () => {
  const steps = [{ upTo: 100, dollars: 3 }, { upTo: 300, dollars: 2 }, { dollars: 1 }];
  const found = [0, 50, 200, 400].map((units) => toUnitDollars(steps, units));
  expect(found).toEqual([3, 3, 2.5, 2]);
  const { rates } = priceMonth(priced, toTraffic('getInventoryEntry=2G'));
  expect(2_000 * rates.gatewayRequests * 1e6).toBeCloseTo(333 * 3.5 + 667 * 2.8 + 1_000 * 2.38, 0);
});

describe('a list of another length', () => {
  const find = (entries: number, name = '200') => findUnits('listInventory', name, entries).priced;
  const [short, long] = [find(1_000), find(100_000)] as const;

  it('has units on the line through the two measured lengths', () => {
    const middle = find(50_500);
    expect(middle.sentBytes).toBe(Math.round((short.sentBytes + long.sentBytes) / 2));
    // 25 ms of 1,000 entries, 700 ms of 100,000; 24 bytes an entry, in half units of 4 KB.
    expect(middle.milliseconds).toBe(Math.ceil((25 + 700) / 2));
    expect(middle.readUnits).toBeCloseTo((50_500 * 24) / 8_192, -1);
    expect(find(0).readUnits).toBe(0.5);
    // One digit more for each power of ten.
    expect(long.loggedBytes).toBeGreaterThan(short.loggedBytes);
  });

  it('counts a request for each 10 MB, and streams at a price past 6 MB', () => {
    expect(find(190_000)).toMatchObject({ gatewayRequests: 2 });
    const { usage } = priceMonth(priced, { ...toTraffic('listInventory=1'), entries: 100_000 });
    expect(usage.streamedGigabytes).toBeCloseTo(long.sentBytes / 2 ** 30 - 6 / 1_024, 9);
  });

  it('has a 304 if it fits into one page of a Scan', () => {
    expect(find(43_000, '304').sentBytes).toBeLessThan(1_000);
    expect(find(44_000, '304')).toEqual(find(44_000));
  });
});

test.each([
  // 2,628,000 seconds a month: more than 1 M requests; of 100 M, 2.628 M + 5 % of 97.372 M.
  [{ reservedPerSecond: 1, percent: 5 }, 1e6, 1],
  [{ reservedPerSecond: 1, percent: 5 }, 100e6, 0.02628 + 0.05 * 0.97372],
  [production.settings.tracing, 1e6, 0.01],
  [{ reservedPerSecond: 1, percent: 0 }, 0, 1],
  [{ reservedPerSecond: 0, percent: 7 }, 0, 0.07],
])('with %j, of %i requests a month %d are traced', (sampling, requests, share) => {
  expect(findTracedShare(sampling, requests)).toBeCloseTo(share, 9);
});

test('a key is read again each minute for each called operation, at most once a request', () => {
  const { rows } = priceMonth(priced, toTraffic('updateInventory=1M,listOrders=1k'));
  expect(rows.find(({ name }) => name.startsWith('keys'))?.usage.readUnits).toBe(43_800 + 1_000);
});

test('replays and lists keep no outcome', () => {
  const { usage } = priceMonth(priced, toTraffic('adjustInventory:replay=10M,listInventory=1M'));
  expect(usage.storedGigabytes).toBeCloseTo((1_000 * 124) / 2 ** 30, 9);
  expect(usage.backedUpGigabytes).toBe(usage.storedGigabytes);
});

test('the scheduled check calls every operation, for one item', () => {
  const { fixedUsage } = priceMonth(priced, toTraffic('listOrders=0'));
  const checks = 8_760;
  expect(fixedUsage).toMatchObject({
    gatewayRequests: checks * operationIds.length,
    functionCalls: checks * (1 + operationIds.length),
    writeUnits: 0,
  });
  // At most a unit for each call, its key, and two of the check itself.
  expect(fixedUsage.readUnits).toBeLessThanOrEqual(checks * (2 * operationIds.length + 2));
  const { usage } = priceMonth(toPriced(staging), toTraffic('listOrders=0'));
  expect(usage.gatewayRequests).toBe(0);
});

test('a month at every throttle’s rate is the rate times 2,628,000 seconds times the most expensive request', () => {
  const { requests, throttled } = priceService(priced, toTraffic('listOrders=1'));
  for (const { operationId, rate, requests: sent, dollars } of throttled.rows) {
    if (operationId === 'other') continue;
    expect(rate).toBe(production.settings.throttles[operationId].rate);
    expect(sent).toBe(rate * 2_628_000);
    const own = requests.find((one) => one.operationId === operationId);
    expect(dollars).toBeCloseTo((sent / 1e6) * Number(own?.mostExpensive.dollars), 6);
  }
  // Of no function, but of the gateway: 100 a second.
  const other = throttled.rows.find(({ operationId }) => operationId === 'other');
  expect(other?.dollars).toBeCloseTo(262.8 * (3.5 + 0.05 + (651 * 0.09 + 301 * 0.5) / 1_073.74), 1);
  expect(throttled.total).toBe(throttled.rows.reduce((sum, { dollars }) => sum + dollars, 0));
  const most = requests.map(({ operationId, mostExpensive }) => [
    operationId,
    mostExpensive.request,
  ]);
  expect(Object.fromEntries(most)).toMatchObject({
    listInventory: 'all entries, include=etag',
    adjustInventory: '10 pets, refused',
    listOrders: 'limit=1000',
  });
});

test('a request that a further operation lacks is named', () => {
  const share = { operationId: 'getDog' as OperationId, response: '200', requests: 1 };
  expect(() => priceMonth(priced, { source: '', entries: 1, shares: [share] })).toThrow(
    'units.json has no request "200" of getDog. Add it to test/conformance/operations/getDog.ts, and run npm run units.',
  );
});

const concurrent = { ...staging, settings: { ...staging.settings, accountConcurrency: 1_000 } };
test.each<[string, Stage, () => StageTemplates]>([
  [
    'production',
    production,
    () => ({ service: templates.production, watch: watchTemplates.production }),
  ],
  ['a changed one', changeProduction(changedSettings), changedProduction],
  ['one that keeps nothing', concurrent, () => synthesizeStages([concurrent]).staging],
])('the settings of %s are priced as its stacks have them', (_, stage, stacks) => {
  const { service, watch } = stacks();
  const find = (type: string) => [service, watch].flatMap((one) => findProperties(one, type));
  const [rule] = find('AWS::Events::Rule');
  const [, every] = /^rate\((\d+) minutes?\)$/.exec(rule?.ScheduleExpression) ?? [];
  const checks = rule ? (730 * 60) / Number(every) : 0;
  const counted = countResources([service.toJSON(), watch.toJSON()]);
  const { usage } = priceMonth(toPriced(stage, counted), toTraffic('listOrders=0'));
  expect(usage).toMatchObject({ ...counted, functionCalls: checks * (1 + operationIds.length) });
  const isBackedUp = JSON.stringify(service).includes('"PointInTimeRecoveryEnabled":true');
  expect(usage.backedUpGigabytes).toBe(isBackedUp ? usage.storedGigabytes : 0);
  expect(counted.firewallRules).toBe(stage.settings.firewall ? 7 : 0);
});

test('an alarm counts for each of its metrics, a custom metric once with each dimension, and one of errors never', () => {
  const toFilter = (MetricName: string, Key?: string, FilterPattern = '{ $.a = 1 }') => ({
    Type: 'AWS::Logs::MetricFilter',
    Properties: {
      FilterPattern,
      MetricTransformations: [{ MetricName, ...(Key && { Dimensions: [{ Key }] }) }],
    },
  });
  const toAlarm = (Properties: object) => ({ Type: 'AWS::CloudWatch::Alarm', Properties });
  const service = {
    plain: toAlarm({ MetricName: 'Errors' }),
    math: toAlarm({ Metrics: [{ Expression: 'a+b' }, { MetricStat: {} }, { MetricStat: {} }] }),
    all: { Type: 'AWS::CloudWatch::CompositeAlarm' },
    key: { Type: 'AWS::KMS::Key' },
    wall: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}] } },
    table: { Type: 'AWS::DynamoDB::Table' },
  };
  const filters = [
    ...[toFilter('Served'), toFilter('Served'), toFilter('Served', 'route')],
    toFilter('Failed', undefined, '{ $.status = 5* }'),
  ];
  const watch = {
    ...Object.fromEntries(filters.entries()),
    own: toAlarm({ MetricName: 'Silence' }),
  };
  expect(countResources([{ Resources: service }, {}, { Resources: watch }])).toEqual({
    ...{ alarmMetrics: 4, compositeAlarms: 1, customMetrics: 2 },
    ...{ encryptionKeys: 1, firewalls: 1, firewallRules: 2 },
  });
});

test('a region has all of its prices in a file, or an error says which file to write', () => {
  expect(() => readPrices('eu-north-1')).toThrow(
    'The prices of eu-north-1 are not known: copy infra/costs/prices/us-east-1.json to infra/costs/prices/eu-north-1.json, and look each price up at https://aws.amazon.com/pricing/.',
  );
  folder.write('eu-west-1.json', '{"prices": {"gatewayRequests": 1}}');
  expect(() => readPrices('eu-west-1', pathToFileURL(`${folder.folder}/`))).toThrow(
    'infra/costs/prices/eu-west-1.json has no price of functionCalls.',
  );
});

test('each line of a bill has one price at most', () => {
  const find = (service: string, usageType: string) =>
    listPrices()
      .filter((one) => one.region === usualRegion && RegExp(one.service, 'i').test(service))
      .filter((one) => RegExp(`^(${one.usageType})$`).test(usageType))
      .map(({ unit, dollars }) => `${unit} ${dollars}`);
  expect(find('AmazonDynamoDB', 'ReadRequestUnits')).toEqual([`read units ${prices.readUnits}`]);
  expect(find('Amazon DynamoDB', 'TimedStorage-ByteHrs')).toEqual(['GB in tables 0.25']);
  expect(find('AmazonCloudWatch', 'TimedStorage-ByteHrs')).toEqual(['GB of kept logs 0.03']);
  expect(find('AWSLambda', 'Lambda-GB-Second-ARM')).toHaveLength(1);
  expect(find('AWSLambda', 'Lambda-GB-Second')).toEqual([]);
  expect(find('Amazon API Gateway', 'DataTransfer-Out-Bytes')).toEqual(['GB sent 0.09']);
});
