import type { OperationId } from '../../../shared/contract/operations.ts';
import type { StageSettings, TraceSampling } from '../../stages/stageSettings.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import type { AnswerUnits } from '../units/answerUnits.ts';
import { findUnits } from '../units/recordedUnits.ts';
import { type Traffic, TrafficError, type TrafficShare } from './traffic.ts';
import {
  type Dollars,
  type Rates,
  type RequestPricing,
  scaleUsage,
  sumUsage,
  toDollars,
  toRates,
  toRequestUsage,
  type Usage,
} from './usage.ts';

/** A month of 730 hours, as AWS reckons. */
export const SECONDS_A_MONTH = 730 * 3600;

/** One line of a month's bill. */
export interface BilledShare extends TrafficShare {
  readonly dollars: Dollars;
}

/** A month's requests, without what the stage costs in any case. */
export interface RequestsBill {
  readonly shares: readonly BilledShare[];
  readonly dollars: Dollars;
  /** What of it is reads of the key table. */
  readonly keyReads: number;
  readonly usage: Usage;
  readonly rates: Rates;
}

/**
 * What a month's requests cost. The steps of prices that fall with use are those of an account that has
 * this traffic and no other, and each request gets its part of what they save.
 * @throws {TrafficError} when there are no units for a share
 */
export function toRequestsBill(
  traffic: Traffic,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
): RequestsBill {
  const metered = traffic.shares.map((share) => ({
    share,
    usage: toShareUsage(share, traffic.entries, recorded, pricing),
  }));
  const keyReads = countKeyReads(traffic);
  const requested = sumUsage(metered.map(({ usage }) => usage));
  const usage = { ...requested, readUnits: requested.readUnits + keyReads };
  const rates = toRates(pricing.prices, usage);
  return {
    shares: metered.map(({ share, usage }) => ({ ...share, dollars: toDollars(usage, rates) })),
    dollars: toDollars(usage, rates),
    keyReads: keyReads * rates.readUnits,
    usage,
    rates,
  };
}

/**
 * How a stage's requests are priced.
 * @param requests a month, which the share that X-Ray traces depends on where a stage reserves some a second
 */
export function toStagePricing(
  { tracing, firewall }: Pick<StageSettings, 'tracing' | 'firewall'>,
  prices: PriceTable,
  requests: number,
): RequestPricing {
  return { prices, tracedPercent: toTracedPercent(tracing, requests), hasFirewall: firewall };
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

function toShareUsage(
  { operationId, answer, requests }: TrafficShare,
  entries: number,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
): Usage {
  const units = findUnits(recorded, operationId, answer, entries);
  if (units) return scaleUsage(toRequestUsage(units, pricing), requests);
  throw new TrafficError(
    answer === '304'
      ? `${operationId} has no answer ${answer} with an inventory of ${entries.toLocaleString('en-US')} entries, which takes more than one page; count it as 200.`
      : `There are no units of ${operationId} ${answer}: npm run units measures them.`,
  );
}

const MINUTES_A_MONTH = SECONDS_A_MONTH / 60;

/**
 * A container reads the record of a key once a minute, a unit each time: of one key, and as many containers
 * as there are operations, that is at most each request of a month, or each of its minutes.
 */
function countKeyReads({ shares }: Traffic): number {
  const requests = new Map<OperationId, number>();
  for (const { operationId, answer, requests: more } of shares) {
    if (answer === '401' || answer === '429') continue;
    requests.set(operationId, (requests.get(operationId) ?? 0) + more);
  }
  return [...requests.values()].reduce((sum, count) => sum + Math.min(count, MINUTES_A_MONTH), 0);
}
