import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { TraceSampling } from '../stages/stageSettings.ts';
import { toUnitDollars, type UsageKind, usageKinds } from './prices.ts';
import type { PricedStage } from './resources.ts';
import { sumRequests, type Traffic, type TrafficShare } from './traffic.ts';
import { findUnits, listResponses, type RequestUnits } from './units.ts';

/** What AWS counts, in its own units. */
export type Usage = Readonly<Partial<Record<UsageKind, number>>>;
/** Dollars for one unit of each kind, or for all of it. */
export type Dollars = Readonly<Record<UsageKind, number>>;

/** AWS calculates with months of 730 hours. */
export const SECONDS_A_MONTH = 730 * 3600;
const DAYS_A_MONTH = 730 / 24;
const GIGABYTE = 2 ** 30;
/** Lambda sends these bytes of a streamed response free of charge: https://aws.amazon.com/lambda/pricing/ */
const FREE_STREAMED_BYTES = 6 * 2 ** 20;
/** CloudWatch bills stored logs compressed. Its calculator (https://calculator.aws) assumes 15 %. */
const COMPRESSED_SHARE = 0.15;
/** An updated entry with an id of 19 digits, and DynamoDB's overhead for every stored item. */
const BYTES_OF_AN_ENTRY = 24 + 100;

export type Costs = ReturnType<typeof priceService>;

/** What finance asks: a request of each operation, the month of the traffic, and a month at every throttle's rate. */
export function priceService(stage: PricedStage, traffic: Traffic, entries?: number) {
  const longest = entries ?? stage.settings.inventoryEntries;
  const traced = findTracedShare(stage.settings.tracing, sumRequests(traffic));
  const price = (units: RequestUnits) => priceMillion(stage, units, traced);
  const requests = operationIds.map((operationId) => ({
    operationId,
    usual: price(findUsual(operationId, traffic)),
    mostExpensive: findMostExpensive(stage, operationId, longest, traced),
  }));
  return {
    stage: stage.name,
    region: stage.region,
    pricesAsOf: stage.pricesAsOf,
    traffic: traffic.source,
    entries: traffic.entries,
    longest,
    requests,
    sale: price(getUnits('adjustInventory', '200', 0)),
    cart: price(getUnits('adjustInventory', '200 cart', 0)),
    month: priceMonth(stage, traffic),
    throttled: priceThrottles(stage, longest, traced),
  };
}

/** The most frequent request of the month. */
function findUsual(operationId: OperationId, { shares, entries }: Traffic): RequestUnits {
  const own = shares.filter((share) => share.operationId === operationId);
  const [most] = own.toSorted((one, other) => other.requests - one.requests);
  return getUnits(operationId, most?.response ?? '200', entries);
}

const toRemedy = (id: string) =>
  `Add it to test/conformance/operations/${id}.ts, and run npm run units.`;

function getUnits(id: RequestUnits['operationId'], response: string, entries: number) {
  const units = findUnits(id, response, entries);
  if (units) return units;
  throw new Error(`units.json has no request "${response}" of ${id}. ${toRemedy(id)}`);
}

/** What a million such requests cost, at the first step of each price. */
function priceMillion(stage: PricedStage, units: RequestUnits, traced: number) {
  const dollars = sumDollars(priceUsage(toUsage(stage, units, traced, 1e6), toRates(stage)));
  return { request: units.request, units: units.priced, dollars };
}

function findMostExpensive(
  stage: PricedStage,
  id: RequestUnits['operationId'],
  entries: number,
  traced: number,
) {
  const [most] = listResponses(id)
    .map((response) => priceMillion(stage, getUnits(id, response, entries), traced))
    .toSorted((one, other) => other.dollars - one.dollars);
  if (most) return most;
  throw new Error(`units.json has no requests of ${id}. ${toRemedy(id)}`);
}

/** What a number of such requests use. */
function toUsage(
  { settings }: PricedStage,
  { operationId, priced }: RequestUnits,
  traced: number,
  requests: number,
): Usage {
  const { gatewayRequests, functionCalls, milliseconds, sentBytes, loggedBytes } = priced;
  const megabytes = operationId === 'other' ? 0 : settings.memoryMegabytes[operationId];
  const streamedBytes = Math.max(0, sentBytes - FREE_STREAMED_BYTES);
  const one: Usage = {
    gatewayRequests,
    functionCalls,
    gigabyteSeconds: (megabytes / 1_024) * (milliseconds / 1_000),
    streamedGigabytes: streamedBytes / GIGABYTE,
    readUnits: priced.readUnits,
    writeUnits: priced.writeUnits,
    sentGigabytes: sentBytes / GIGABYTE,
    loggedGigabytes: loggedBytes / GIGABYTE,
    traces: traced,
    firewallRequests: settings.firewall ? 1 : 0,
  };
  return mapKinds((kind) => (one[kind] ?? 0) * requests);
}

/**
 * The share of requests that are traced, if they are spread evenly over a month.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-console-sampling.html
 */
export function findTracedShare({ reservedPerSecond, percent }: TraceSampling, requests: number) {
  if (requests === 0) return reservedPerSecond > 0 ? 1 : percent / 100;
  const reserved = Math.min(requests, reservedPerSecond * SECONDS_A_MONTH);
  return (reserved + (percent / 100) * (requests - reserved)) / requests;
}

export type Month = ReturnType<typeof priceMonth>;

/** What a month costs. Prices that fall with use are those of an account with only this use. */
export function priceMonth(stage: PricedStage, traffic: Traffic) {
  const traced = findTracedShare(stage.settings.tracing, sumRequests(traffic));
  const { entries } = traffic;
  const priced = traffic.shares.map((share) => {
    const units = getUnits(share.operationId, share.response, entries);
    const usage = toUsage(stage, units, traced, share.requests);
    return { ...share, usage, storedBytes: share.requests * units.priced.storedBytes };
  });
  const operationRows = [...Map.groupBy(priced, ({ operationId }) => operationId)].map(
    ([name, own]) => ({
      name: name as string,
      requests: sumRequests({ shares: own }),
      usage: sumUsage(own.map(({ usage }) => usage)),
    }),
  );
  const keys = { readUnits: countKeyReads(traffic.shares) };
  const ofRequests = sumUsage(priced.map(({ usage }) => usage));
  const kept = keep(
    stage,
    ofRequests.loggedGigabytes,
    sumBy(priced, (one) => one.storedBytes),
  );
  const checks = countChecks(stage, traced);
  const fixed = sumUsage([
    stage.resources,
    checks,
    keep(stage, checks.loggedGigabytes, entries * BYTES_OF_AN_ENTRY),
  ]);
  const rows = [
    ...operationRows,
    { name: 'keys, read once a minute', usage: keys },
    { name: 'stored logs and outcomes', usage: kept },
    { name: "fixed, without a client's request", usage: fixed },
  ];
  const usage = sumUsage(rows.map((row) => row.usage));
  const rates = toRates(stage, usage);
  const total = sumDollars(priceUsage(usage, rates));
  return {
    rows: rows.map((row) => ({ ...row, dollars: priceUsage(row.usage, rates) })),
    usage,
    /** Dollars for each unit. */
    rates,
    fixedUsage: fixed,
    fixed: sumDollars(priceUsage(fixed, rates)),
    total,
  };
}

/**
 * A container reads a key's record once a minute, one unit each time. This assumes one key and one container per
 * operation. The reads are at most one per request, and one per minute.
 */
function countKeyReads(shares: readonly TrafficShare[]): number {
  const withKey = shares.filter(({ response }) => response !== '401');
  const byOperation = Map.groupBy(withKey, ({ operationId }) => operationId);
  return sumBy([...byOperation.values()], (own) =>
    Math.min(sumRequests({ shares: own }), SECONDS_A_MONTH / 60),
  );
}

/** What is stored of a month's logs until they expire, and of a month's data in tables. */
function keep({ settings }: PricedStage, loggedGigabytes: number, bytes: number): Usage {
  const storedGigabytes = bytes / GIGABYTE;
  return {
    storedLogGigabytes:
      (loggedGigabytes * COMPRESSED_SHARE * settings.logRetentionDays) / DAYS_A_MONTH,
    storedGigabytes,
    backedUpGigabytes: settings.protectsData ? storedGigabytes : 0,
  };
}

/**
 * The scheduled check calls every operation: a list or page of one item, and a write that is refused. Between two checks,
 * each container forgets the key.
 */
function countChecks(stage: PricedStage, traced: number): Required<Usage> {
  const { checkEveryMinutes } = stage.settings;
  const checks = checkEveryMinutes ? SECONDS_A_MONTH / 60 / checkEveryMinutes : 0;
  const calls = operationIds.map((id) => {
    const isWrite = operations[id].permission === 'write';
    const units =
      (isWrite ? findUnits(id, '403', 1) : findUnits(id, '200 one', 1)) ?? getUnits(id, '200', 1);
    return sumUsage([toUsage(stage, units, traced, checks), { readUnits: checks }]);
  });
  // Its own function takes about a second with 256 MB, and reads an item of three tables and all keys.
  const own = { functionCalls: checks, gigabyteSeconds: checks / 4, readUnits: checks * 2 };
  return sumUsage([...calls, own]);
}

/** For each throttle, its rate around the clock, times the most expensive request, at the first step of each price. */
function priceThrottles(stage: PricedStage, entries: number, traced: number) {
  const rows = ([...operationIds, 'other'] as const).map((id) => {
    const { rate } = stage.settings.throttles[id];
    const { request, dollars: dollarsPerMillion } = findMostExpensive(stage, id, entries, traced);
    const requests = rate * SECONDS_A_MONTH;
    const dollars = (requests * dollarsPerMillion) / 1e6;
    return { operationId: id, rate, request, requests, dollarsPerMillion, dollars };
  });
  return { rows, total: sumBy(rows, ({ dollars }) => dollars) };
}

/** @param month the account's use in the month, since some prices fall with use; default: the first step */
function toRates({ prices }: PricedStage, month: Usage = {}): Dollars {
  return mapKinds((kind) => toUnitDollars(prices[kind], month[kind]));
}

/** Multiplies units by prices. Every amount is calculated here. */
export function priceUsage(usage: Usage, rates: Dollars): Dollars {
  return mapKinds((kind) => (usage[kind] ?? 0) * rates[kind]);
}

function sumUsage(each: readonly Usage[]): Required<Usage> {
  return mapKinds((kind) => sumBy(each, (one) => one[kind] ?? 0));
}

function sumDollars(dollars: Dollars): number {
  return sumBy(usageKinds, (kind) => dollars[kind]);
}

function sumBy<One>(all: readonly One[], toNumber: (one: One) => number): number {
  return all.reduce((sum, one) => sum + toNumber(one), 0);
}

function mapKinds(toValue: (kind: UsageKind) => number): Record<UsageKind, number> {
  const entries = usageKinds.map((kind) => [kind, toValue(kind)]);
  return Object.fromEntries(entries) as Record<UsageKind, number>;
}
