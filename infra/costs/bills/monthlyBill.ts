import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { MARGIN } from '../../../shared/http/requestTime.ts';
import { SLICE_BYTES, SLICE_TIMEOUT } from '../../../shared/http/streamedExecution.ts';
import { computeMaxPause, MAX_ATTEMPTS } from '../../../shared/store/conflicts.ts';
import { listRateRules } from '../../gateway/rateRules.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import {
  accountThrottle,
  isTopic,
  type StageSettings,
  severities,
  type TraceSampling,
} from '../../stages/stageSettings.ts';
import { operationSettings, type Stage } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import { type PricedStage, readFigures } from '../figures.ts';
import {
  findAllUnits,
  findPageUnits,
  findUnits,
  type ResponseKind,
  type ResponseUnits,
  toRecordBytes,
} from '../units/responseUnits.ts';
import { type Requests, sumRequests, type TrafficShare } from './traffic.ts';
import {
  GIGABYTE,
  type RequestPricing,
  sortByAmount,
  sumDollars,
  sumOf,
  sumUsage,
  toDollars,
  toDollarsPerMillion,
  toRates,
  toRequestUsage,
  type Usage,
} from './usage.ts';

/** AWS calculates with months of 730 hours. */
const SECONDS_A_MONTH = 730 * 3600;
/** DynamoDB bills this overhead for every stored item. */
const BYTES_OF_AN_ITEM = 100;
/**
 * What the table `requests` keeps of each adjustment for 30 days, about a month: its key, time and deltas, and of a
 * refusal the message and the pets that refused. A replay stores nothing.
 */
const bytesOfOutcome: Partial<Record<ResponseKind, number>> = {
  '200': 99,
  '200 cart': 307,
  '404': 310,
  '409': 310,
};
/** Of a refusal that names ten pets. */
const MAX_OUTCOME_BYTES = 2_400;
/** CloudWatch bills stored logs compressed. Its calculator (https://calculator.aws) assumes 15 %. */
const COMPRESSED_SHARE = 0.15;
const DAYS_A_MONTH = 730 / 24;

/** @param requests per month; the traced share depends on it if the stage traces a fixed number per second */
export function readPricing(
  stage: Stage,
  requests: number,
  figures = readFigures(stage),
): RequestPricing {
  const { firewall, memoryMegabytes, tracing } = stage.settings;
  const tracedPercent = findTracedPercent(tracing, requests);
  return { ...figures, memoryMegabytes, tracedPercent, hasFirewall: firewall };
}

/**
 * How many of a hundred requests are traced, if they are spread evenly over a month of 730 hours.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-console-sampling.html
 */
export function findTracedPercent({ reservedPerSecond, percent }: TraceSampling, requests: number) {
  if (requests === 0) return reservedPerSecond > 0 ? 100 : percent;
  const reserved = Math.min(requests, reservedPerSecond * SECONDS_A_MONTH);
  return (100 * reserved + percent * (requests - reserved)) / requests;
}

/**
 * A container reads a key's record once a minute, one unit each time. This assumes one key and one container per
 * operation. The reads are at most one per request, and one per minute.
 */
function countKeyReads(shares: readonly TrafficShare[]): number {
  const withKey = shares.filter(({ response }) => response !== '401' && response !== '429');
  const byOperation = Map.groupBy(withKey, ({ operationId }) => operationId);
  return sumOf([...byOperation.values()], (own) =>
    Math.min(sumRequests({ shares: own }), SECONDS_A_MONTH / 60),
  );
}

/**
 * A stage's fixed use in a month. An account's first three dashboards are free. `test/infra/costs/bills.test.ts` counts
 * the rest of it in the stacks too.
 * @param entries the length of the inventory, which takes up most of the tables' storage
 * @param added what each month adds to the logs and to the outcomes; both are kept until they expire
 */
export function countFixedUsage(
  { settings, metrics }: PricedStage,
  entries: number,
  pricing: RequestPricing,
  added = { loggedGigabytes: 0, outcomeGigabytes: 0 },
): Required<Usage> {
  const { alarms, checkEveryMinutes, firewall, logRetentionDays, protectsData, raisesAlarms } =
    settings;
  const ownsTopic = severities.some((severity) => !isTopic(alarms?.[severity]));
  const checks = checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0;
  const ofChecks = countCheckUsage(pricing, checks);
  const logged = added.loggedGigabytes + ofChecks.loggedGigabytes;
  const entryBytes = toRecordBytes(pricing.sizes) + BYTES_OF_AN_ITEM;
  const storedGigabytes = (entries * entryBytes) / GIGABYTE + added.outcomeGigabytes;
  const others: Usage = {
    encryptionKeys: raisesAlarms && ownsTopic ? 1 : 0,
    firewalls: firewall ? 1 : 0,
    // With AWS's two groups.
    firewallRules: firewall ? listRateRules(settings).length + 2 : 0,
    storedLogGigabytes: (logged * COMPRESSED_SHARE * logRetentionDays) / DAYS_A_MONTH,
    storedGigabytes,
    backedUpGigabytes: protectsData ? storedGigabytes : 0,
  };
  return sumUsage([metrics, ofChecks, others]);
}

function countOutcomeGigabytes({ shares }: Requests): number {
  const bytes = shares.map(({ operationId, response, requests, units }) => {
    const ofResponse = units?.request ? MAX_OUTCOME_BYTES : bytesOfOutcome[response];
    const own = operationId === 'adjustInventory' ? ofResponse : undefined;
    return own === undefined ? 0 : requests * (own + BYTES_OF_AN_ITEM);
  });
  return sumOf(bytes, (one) => one) / GIGABYTE;
}

/** A check has a list or page of one item, and a write refused. Between two checks, each container forgets the key. */
function countCheckUsage(pricing: RequestPricing, checks: number): Required<Usage> {
  const calls = operationIds.flatMap((id) => {
    const isWrite = operations[id].permission === 'write';
    const units = isWrite ? findUnits(pricing, id, '403', 1) : findPageUnits(pricing, id, 1);
    return units ? [toRequestUsage(units, pricing, checks), { readUnits: checks }] : [];
  });
  // Its own function takes about a second with 256 MB, and reads an item of three tables and all keys.
  const own = { functionCalls: checks, gigabyteSeconds: checks / 4, readUnits: checks * 2 };
  return sumUsage([...calls, own]);
}

export type Month = ReturnType<typeof priceMonth>;

/**
 * What a month costs. Prices that fall with use are those of an account with only this use. Each request gets its part
 * of the saving.
 * @param besides the use of requests that are not in the traffic
 */
export function priceMonth(
  stage: PricedStage,
  traffic: Requests,
  pricing = readPricing(stage, sumRequests(traffic)),
  besides: Usage = {},
) {
  const { entries } = traffic;
  const metered = traffic.shares.map(({ operationId, response, requests, units: own }) => {
    const find = (one: ResponseKind) => findUnits(pricing, operationId, one, entries);
    // A list of several pages has no 304; the response is 200.
    const units = own ?? find(response) ?? find('200');
    if (units) return { requests, units, usage: toRequestUsage(units, pricing, requests) };
    throw new Error(`There are no units of ${operationId}: npm run units measures them.`);
  });
  const keyReads = countKeyReads(traffic.shares);
  const ofRequests = sumUsage([...metered.map((one) => one.usage), { readUnits: keyReads }]);
  const fixedUsage = countFixedUsage(stage, entries, pricing, {
    loggedGigabytes: sumUsage([ofRequests, besides]).loggedGigabytes,
    outcomeGigabytes: countOutcomeGigabytes(traffic),
  });
  const usage = sumUsage([ofRequests, fixedUsage]);
  const rates = toRates(pricing.prices, sumUsage([usage, besides]));
  const components = toDollars(ofRequests, rates);
  const fixedParts = toDollars(fixedUsage, rates);
  const [requests, fixed] = [sumDollars(components), sumDollars(fixedParts)];
  return {
    entries,
    requests,
    fixed,
    total: requests + fixed,
    components,
    fixedParts,
    /** The part for reads of the key table. */
    keyReads: keyReads * rates.readUnits,
    /** What it costs without any request. */
    idleParts: toDollars(countFixedUsage(stage, entries, pricing), rates),
    shares: metered.map(({ requests, units, usage }) => {
      const { operationId, response } = units;
      return { operationId, response, requests, units, dollars: toDollars(usage, rates) };
    }),
    usage,
    rates,
  };
}

export type WorstMonth = ReturnType<typeof priceWorstMonth>;

/**
 * A month of attack around the clock, with all that the stage's settings allow: for every operation, the most expensive
 * request at the highest rate. Each is traced, since a client can force that by a header, and has the longest
 * `User-Agent`, which the access log keeps.
 */
export function priceWorstMonth(
  stage: PricedStage,
  entries: number = stage.settings.inventoryEntries,
  figures = readFigures(stage),
) {
  const { settings } = stage;
  const pricing = { ...readPricing(stage, 0, figures), tracedPercent: 100 };
  const shares = operationIds.flatMap((id) => findMostExpensive(settings, id, pricing, entries));
  const [measured] = operationIds.flatMap((id) => findUnits(pricing, id, '429', 0) ?? []);
  if (!measured) throw new Error('There are no units of a refusal: npm run units measures them.');
  const refused = withLongLine(measured);
  // The gateway's own responses, for example to unknown paths, at their own throttle.
  const unknown = settings.throttles.other.rate * SECONDS_A_MONTH;
  const ofOthers = toRequestUsage({ ...refused, gatewayRequests: 1 }, pricing, unknown);
  // 10,000 a second, which nothing bounds. The request is free, but its line in the access log and its response are not.
  const ofRefusals = toRequestUsage(refused, pricing, accountThrottle.rate * SECONDS_A_MONTH);
  const ofConflicts = countConflictUsage(settings, shares);
  // The logs stay longer, but later months pay for that.
  const ofMonth = { ...stage, settings: { ...settings, logRetentionDays: 30 as const } };
  const besides = sumUsage([ofOthers, ofRefusals, ofConflicts]);
  const month = priceMonth(ofMonth, { entries, shares }, pricing, besides);
  return {
    ...month,
    other: toDollars(ofOthers, month.rates),
    conflicts: toDollars(ofConflicts, month.rates),
    refusals: toDollars(ofRefusals, month.rates),
    total: month.total + sumDollars(toDollars(besides, month.rates)),
  };
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html */
const MAX_HEADER_BYTES = 10_240;

function withLongLine(units: ResponseUnits): ResponseUnits {
  const { logBytes } = units;
  return { ...units, logBytes: { ...logBytes, access: logBytes.access + MAX_HEADER_BYTES } };
}

/** @returns nothing for an operation that an earlier commit lacks */
function findMostExpensive(
  settings: StageSettings,
  operationId: OperationId,
  pricing: RequestPricing,
  entries: number,
): (TrafficShare & { readonly units: ResponseUnits })[] {
  const reserved = findReservedConcurrency(settings, operationId) ?? Number.POSITIVE_INFINITY;
  const asked = findAllUnits(pricing, operationId, entries).map(withLongLine);
  const priced = [...asked, ...asked.map(withSlowReader)].map((units) => {
    // The throttle's rate, or less if the concurrency does not allow it.
    const { rate } = settings.throttles[operationId];
    const atOnce = (reserved * 1000) / units.billedMilliseconds;
    const perSecond = units.functionCalls > 0 ? Math.min(rate, atOnce) : rate;
    const dollars = sumDollars(toDollarsPerMillion(units, pricing)) * perSecond;
    return { units, requests: perSecond * SECONDS_A_MONTH, dollars };
  });
  const [most] = sortByAmount(priced, ({ dollars }) => dollars);
  if (!most || most.dollars === 0) return [];
  const { units, requests } = most;
  return [{ operationId, response: units.response, requests, units }];
}

/**
 * Sent to a client that takes each slice of a streamed response just before it would be given up. A buffered response
 * is sent by the gateway.
 */
function withSlowReader(units: ResponseUnits): ResponseUnits {
  const { operationId, responseBytes, billedMilliseconds } = units;
  if (!operations[operationId].streamed || units.functionCalls === 0) return units;
  const timeout = operationSettings[operationId].timeoutSeconds * 1_000 - MARGIN;
  const slices = Math.ceil(responseBytes / SLICE_BYTES) * SLICE_TIMEOUT;
  return { ...units, billedMilliseconds: Math.min(billedMilliseconds + slices, timeout) };
}

/** Those that a client's request can write to. */
const writtenTables = tableNames.filter((table) =>
  Object.values(operationSettings).some(({ access }) =>
    access[table]?.some((action) => /(Put|Update|Delete)Item$/.test(action)),
  ),
);

/**
 * What writes take more if all of them meet others on the same entries: each further attempt takes the write units
 * again, after a pause of half its maximum on average. The tables' `maximumUnitsPerSecond` bound the write units, and
 * the account's concurrency, where it is known, bounds the time.
 */
function countConflictUsage(
  settings: StageSettings,
  shares: readonly (TrafficShare & { readonly units: ResponseUnits })[],
): Usage {
  const { accountConcurrency = Number.POSITIVE_INFINITY, maximumUnitsPerSecond } = settings;
  const attempts = Array.from({ length: MAX_ATTEMPTS - 1 }, (_, index) => index + 1);
  const pauses = sumOf(attempts, computeMaxPause) / 2;
  const writes = shares
    .filter(({ operationId }) => operations[operationId].permission === 'write')
    .map(({ operationId, requests, units }) => {
      const milliseconds = pauses + attempts.length * units.billedMilliseconds;
      const seconds = (requests * milliseconds) / 1_000;
      const gigabyteSeconds = (seconds * settings.memoryMegabytes[operationId]) / 1_024;
      return { writeUnits: requests * units.writeUnits, seconds, gigabyteSeconds };
    });
  const used = sumOf(writes, ({ writeUnits }) => writeUnits);
  const perSecond = sumOf(writtenTables, (table) => maximumUnitsPerSecond[table].write);
  const left = Math.max(0, perSecond * SECONDS_A_MONTH - used);
  const seconds = sumOf(writes, (one) => one.seconds);
  const allowed = Math.min(1, (accountConcurrency * SECONDS_A_MONTH) / seconds);
  return {
    writeUnits: Math.min(used * attempts.length, left),
    gigabyteSeconds: allowed * sumOf(writes, (one) => one.gigabyteSeconds),
  };
}
