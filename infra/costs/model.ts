import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import type { TraceSampling } from '../stages/stageSettings.ts';
import { toUnitDollars, type UsageKind, usageKinds } from './prices.ts';
import type { PricedStage } from './resources.ts';
import { sumRequests, type Traffic, type TrafficShare } from './traffic.ts';
import { findUnits, listResponses, type RequestUnits } from './units.ts';

/** A number for each kind of usage: what AWS counts, in its own units, or dollars. */
export type ByKind = Readonly<Record<UsageKind, number>>;
type Usage = Partial<ByKind>;

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
  const rates = toRates(stage);
  /** A million such requests, at the first step of each price. */
  const price = (units: RequestUnits) => {
    const dollars = sumDollars(priceUsage(toUsage(stage, units, traced, 1e6), rates));
    return { request: units.request, units: units.priced, dollars };
  };
  const findMostExpensive = (id: RequestUnits['operationId']) =>
    listResponses(id)
      .map((response) => price(findUnits(id, response, longest)))
      .reduce((one, other) => (other.dollars > one.dollars ? other : one));
  const requests = operationIds.map((operationId) => ({
    operationId,
    usual: price(findUsual(operationId, traffic)),
    mostExpensive: findMostExpensive(operationId),
  }));
  const throttled = ([...operationIds, 'other'] as const).map((operationId) => {
    const { rate } = stage.settings.throttles[operationId];
    const { request, dollars: dollarsPerMillion } = findMostExpensive(operationId);
    const requests = rate * SECONDS_A_MONTH;
    const dollars = (requests * dollarsPerMillion) / 1e6;
    return { operationId, rate, request, requests, dollarsPerMillion, dollars };
  });
  return {
    stage: stage.name,
    region: stage.region,
    pricesAsOf: stage.asOf,
    traffic: traffic.source,
    entries: traffic.entries,
    longest,
    requests,
    sale: price(findUnits('adjustInventory', '200', 0)),
    cart: price(findUnits('adjustInventory', '200 cart', 0)),
    month: priceMonth(stage, traffic),
    throttled: { rows: throttled, total: sumBy(throttled, ({ dollars }) => dollars) },
  };
}

/** The most frequent request of the month. */
function findUsual(operationId: OperationId, { shares, entries }: Traffic): RequestUnits {
  const own = shares.filter((share) => share.operationId === operationId);
  const [most] = own.toSorted((one, other) => other.requests - one.requests);
  return findUnits(operationId, most?.response ?? '200', entries);
}

/** What a number of such requests use. */
function toUsage(
  { settings }: PricedStage,
  { operationId, priced }: RequestUnits,
  traced: number,
  requests: number,
): ByKind {
  const { milliseconds, sentBytes, loggedBytes, ...counts } = priced;
  const megabytes = operationId === 'other' ? 0 : settings.memoryMegabytes[operationId];
  const streamedBytes = Math.max(0, sentBytes - FREE_STREAMED_BYTES);
  const one: Usage = {
    ...counts,
    gigabyteSeconds: (megabytes / 1_024) * (milliseconds / 1_000),
    streamedGigabytes: streamedBytes / GIGABYTE,
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

/** What a month costs. Prices that fall with use are those of an account with only this use. */
export function priceMonth(stage: PricedStage, { shares, entries }: Traffic) {
  const traced = findTracedShare(stage.settings.tracing, sumRequests({ shares }));
  const priced = shares.map((share) => {
    const units = findUnits(share.operationId, share.response, entries);
    const usage = toUsage(stage, units, traced, share.requests);
    return { ...share, usage, storedBytes: share.requests * units.priced.storedBytes };
  });
  const byOperation = [...Map.groupBy(priced, ({ operationId }) => operationId)];
  const operationRows = byOperation.map(([name, own]) => ({
    name: name as string,
    requests: sumRequests({ shares: own }),
    usage: sumUsage(own.map(({ usage }) => usage)),
  }));
  const logged = sumBy(priced, ({ usage }) => usage.loggedGigabytes);
  const outcomes = sumBy(priced, ({ storedBytes }) => storedBytes);
  const checks = countChecks(stage, traced);
  const stored = keep(stage, checks.loggedGigabytes, entries * BYTES_OF_AN_ENTRY);
  const fixed = sumUsage([stage.resources, checks, stored]);
  const keys = sumBy(byOperation, ([, own]) => countKeyReads(own));
  const rows = [
    ...operationRows,
    { name: 'keys, read once a minute', usage: { readUnits: keys } },
    { name: 'stored logs and outcomes', usage: keep(stage, logged, outcomes) },
    { name: 'fixed, even without requests', usage: fixed },
  ];
  const usage = sumUsage(rows.map((row) => row.usage));
  const rates = toRates(stage, usage);
  return {
    rows: rows.map((row) => ({ ...row, dollars: priceUsage(row.usage, rates) })),
    usage,
    /** Dollars for each unit. */
    rates,
    fixedUsage: fixed,
    fixed: sumDollars(priceUsage(fixed, rates)),
    total: sumDollars(priceUsage(usage, rates)),
  };
}

/**
 * A container reads a key's record once a minute, one unit each time. This assumes one key and one container for the
 * operation. The reads are at most one per request, and one per minute.
 */
function countKeyReads(own: readonly TrafficShare[]): number {
  const shares = own.filter(({ response }) => response !== '401');
  return Math.min(sumRequests({ shares }), SECONDS_A_MONTH / 60);
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
function countChecks(stage: PricedStage, traced: number): ByKind {
  const { checkEveryMinutes } = stage.settings;
  const checks = checkEveryMinutes ? SECONDS_A_MONTH / 60 / checkEveryMinutes : 0;
  const calls = operationIds.flatMap((id) => {
    const wanted = operations[id].permission === 'write' ? '403' : '200 one';
    const response = listResponses(id).includes(wanted) ? wanted : '200';
    return [toUsage(stage, findUnits(id, response, 1), traced, checks), { readUnits: checks }];
  });
  // Its own function takes about a second with 256 MB, and reads an item of three tables and all keys.
  const own = { functionCalls: checks, gigabyteSeconds: checks / 4, readUnits: checks * 2 };
  return sumUsage([...calls, own]);
}

/** @param month the account's use in the month, since some prices fall with use; default: the first step */
function toRates({ prices }: PricedStage, month: Usage = {}): ByKind {
  return mapKinds((kind) => toUnitDollars(prices[kind], month[kind]));
}

/** Multiplies units by prices. Every amount is calculated here. */
export function priceUsage(usage: Usage, rates: ByKind): ByKind {
  return mapKinds((kind) => (usage[kind] ?? 0) * rates[kind]);
}

function sumUsage(each: readonly Usage[]): ByKind {
  return mapKinds((kind) => sumBy(each, (one) => one[kind] ?? 0));
}

export function sumDollars(dollars: ByKind): number {
  return sumBy(usageKinds, (kind) => dollars[kind]);
}

function sumBy<One>(all: readonly One[], toNumber: (one: One) => number): number {
  return all.reduce((sum, one) => sum + toNumber(one), 0);
}

export function mapKinds(toValue: (kind: UsageKind) => number): Record<UsageKind, number> {
  const entries = usageKinds.map((kind) => [kind, toValue(kind)]);
  return Object.fromEntries(entries) as Record<UsageKind, number>;
}
