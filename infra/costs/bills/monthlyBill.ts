import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import {
  accountThrottle,
  type StageSettings,
  type TraceSampling,
} from '../../stages/stageSettings.ts';
import { answersOf, findUnits, readRecordedUnits } from '../units/answerUnits.ts';
import { type RecordSizes, usualSizes } from '../units/sizes.ts';
import { toFixedUsage } from './fixedCosts.ts';
import { readCommittedTraffic, sumRequests, type Traffic, type TrafficShare } from './traffic.ts';
import {
  type RequestPricing,
  sumDollars,
  sumUsage,
  toDollars,
  toDollarsPerMillion,
  toRates,
  toRequestUsage,
} from './usage.ts';

/** A month of 730 hours, as AWS reckons. */
const SECONDS_A_MONTH = 730 * 3600;

/**
 * How a stage's requests are priced.
 * @param requests a month, which the share that X-Ray traces depends on where a stage reserves some a second
 */
export function toStagePricing(
  { firewall, memoryMegabytes, tracing }: PricedSettings,
  requests: number,
  sizes: RecordSizes = usualSizes,
  measured = readRecordedUnits(),
): RequestPricing {
  const units = measured.map((one) => ({
    ...one,
    memoryMegabytes: memoryMegabytes[one.operationId],
  }));
  const tracedPercent = toTracedPercent(tracing, requests);
  return { units, tracedPercent, hasFirewall: firewall, sizes };
}

/** The settings that a request's price depends on. */
type PricedSettings = Pick<StageSettings, 'firewall' | 'memoryMegabytes' | 'tracing'>;

/**
 * What a month's requests cost. The steps of prices that fall with use are those of an account that has
 * this traffic and no other, and each request gets its part of what they save.
 * @throws {Error} when there are no units for a share
 */
export function toRequestsBill({ entries, shares }: Traffic, pricing: RequestPricing) {
  const metered = shares.map(({ operationId, requests, ...share }) => {
    // A list of several pages has no 304, and is answered 200.
    const answer = findUnits(pricing, operationId, share.answer, entries) ? share.answer : '200';
    const units = findUnits(pricing, operationId, answer, entries);
    if (!units) {
      throw new Error(`There are no units of ${operationId}: npm run units measures them.`);
    }
    return { operationId, answer, requests, usage: toRequestUsage(units, pricing, requests) };
  });
  const keyReads = countKeyReads(shares);
  const usage = sumUsage([...metered.map((one) => one.usage), { readUnits: keyReads }]);
  const rates = toRates(usage);
  return {
    shares: metered.map(({ usage: own, ...share }) => ({
      ...share,
      dollars: toDollars(own, rates),
    })),
    dollars: toDollars(usage, rates),
    // What of it is reads of the key table.
    keyReads: keyReads * rates.readUnits,
    usage,
    rates,
  };
}

/**
 * Of a hundred requests, as many as are traced, if they are spread evenly over a month of 730 hours.
 * https://docs.aws.amazon.com/xray/latest/devguide/xray-console-sampling.html
 */
export function toTracedPercent(
  { reservedPerSecond, percent }: TraceSampling,
  requests: number,
): number {
  if (requests === 0) return reservedPerSecond > 0 ? 100 : percent;
  const reserved = Math.min(requests, reservedPerSecond * SECONDS_A_MONTH);
  return (100 * reserved + percent * (requests - reserved)) / requests;
}

/**
 * A container reads the record of a key once a minute, a unit each time: of one key, and as many containers
 * as there are operations, that is at most each request of a month, or each of its minutes.
 */
function countKeyReads(shares: readonly TrafficShare[]): number {
  const withKey = shares.filter(({ answer }) => answer !== '401' && answer !== '429');
  const byOperation = Map.groupBy(withKey, ({ operationId }) => operationId);
  return [...byOperation.values()]
    .map((own) => own.reduce((sum, { requests }) => sum + requests, 0))
    .reduce((sum, requests) => sum + Math.min(requests, SECONDS_A_MONTH / 60), 0);
}

/** A month with a certain traffic, in dollars. */
export type Month = ReturnType<typeof toMonth>;

/** A month's requests, with what the stage costs in any case. */
export function toMonth(settings: StageSettings, traffic: Traffic, pricing: RequestPricing) {
  const { entries } = traffic;
  const { shares, dollars, keyReads, usage, rates } = toRequestsBill(traffic, pricing);
  const fixedUsage = toFixedUsage(settings, entries, pricing.sizes, usage.loggedGigabytes);
  const fixedParts = toDollars(fixedUsage, toRates());
  const [requests, fixed] = [sumDollars(dollars), sumDollars(fixedParts)];
  const total = requests + fixed;
  // Of the requests, `keyReads` is for reading the keys' records anew, once a minute.
  return {
    ...{ entries, requests, fixed, total, components: dollars, keyReads, fixedParts, shares },
    ...{ usage: sumUsage([usage, fixedUsage]), rates },
  };
}

/**
 * A month of attack, around the clock and as much as the stage's settings let through: of every operation, the
 * most expensive answer at the highest rate.
 */
export type WorstMonth = ReturnType<typeof toWorstMonth>;

/** @param entries the length of the inventory, since a whole list is the most expensive request by far */
export function toWorstMonth(settings: StageSettings, entries: number, sizes?: RecordSizes) {
  // Of a flood, nothing but the settled share is traced.
  const pricing = toStagePricing(settings, Number.MAX_SAFE_INTEGER, sizes);
  const shares = operationIds.map((id) => mostExpensiveShare(settings, id, pricing, entries));
  // Its logs are kept on, which the months after it pay for.
  const month = toMonth({ ...settings, logRetentionDays: 30 }, { entries, shares }, pricing);
  const refused = findUnits(pricing, 'getPet', '429', 0);
  const perRefusal = refused ? sumDollars(toDollarsPerMillion(refused, pricing)) / 1e6 : 0;
  const perAnswer = perRefusal + toRates().gatewayRequests;
  // What the gateway answers by itself, such as unknown paths, at its own throttle.
  const other = perAnswer * settings.throttles.other.rate * SECONDS_A_MONTH;
  // At 10,000 a second. Nothing bounds these but what AWS does against floods: the request is free, and its line of
  // the access log and its answer are not.
  const refusals = perRefusal * accountThrottle.rate * SECONDS_A_MONTH;
  return { ...month, other, refusals, total: month.total + other + refusals };
}

function mostExpensiveShare(
  settings: StageSettings,
  operationId: OperationId,
  pricing: RequestPricing,
  entries: number,
): TrafficShare {
  const { rate } = settings.throttles[operationId];
  const reserved = toReservedConcurrency(settings, operationId) ?? Number.POSITIVE_INFINITY;
  const priced = answersOf[operationId].map((answer) => {
    const units = findUnits(pricing, operationId, answer, entries);
    if (!units) return { operationId, answer, requests: 0, dollars: 0 };
    // What the throttle lets through, and no more than run at once.
    const atOnce = (reserved * 1000) / units.billedMilliseconds;
    const perSecond = units.functionCalls > 0 ? Math.min(rate, atOnce) : rate;
    const dollars = sumDollars(toDollarsPerMillion(units, pricing)) * perSecond;
    return { operationId, answer, requests: perSecond * SECONDS_A_MONTH, dollars };
  });
  return priced.reduce((most, one) => (one.dollars > most.dollars ? one : most));
}

/**
 * What one request of an operation costs on average, in dollars: that of the mix of answers which the
 * committed traffic has of it, or else a plain 200.
 * @returns `undefined` for an operation whose units were not measured yet
 */
export function toMeanDollars(
  operationId: OperationId,
  settings: PricedSettings,
  committed = readCommittedTraffic(),
): number | undefined {
  const { entries } = committed;
  const pricing = toStagePricing(settings, sumRequests(committed));
  if (!findUnits(pricing, operationId, '200', entries)) return undefined;
  const own = committed.shares.filter((share) => share.operationId === operationId);
  const plain = { operationId, answer: '200', requests: 1 } as const;
  const traffic = { entries, shares: own.some(({ requests }) => requests > 0) ? own : [plain] };
  return sumDollars(toRequestsBill(traffic, pricing).dollars) / sumRequests(traffic);
}
