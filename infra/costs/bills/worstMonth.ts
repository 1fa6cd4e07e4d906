import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import { accountThrottle, type StageSettings } from '../../stages/stageSettings.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { type AnswerUnits, answersOf } from '../units/answerUnits.ts';
import { findUnits } from '../units/recordedUnits.ts';
import {
  type RequestsBill,
  SECONDS_A_MONTH,
  toRequestsBill,
  toStagePricing,
} from './monthlyBill.ts';
import type { Traffic, TrafficShare } from './traffic.ts';
import {
  type RequestPricing,
  scaleUsage,
  sumDollars,
  sumUsage,
  toDollars,
  toDollarsPerMillion,
  toRates,
  toRequestUsage,
} from './usage.ts';

/** What a month of attack costs, around the clock and as much as the stage's settings let it. */
export interface WorstMonth {
  /** Of every operation, the most expensive answer at the highest rate that its throttle and concurrency let through. */
  readonly requests: RequestsBill;
  /** What the gateway answers by itself, such as unknown paths, at its own throttle. */
  readonly other: number;
  /**
   * What is refused with 429, at 10,000 a second. Nothing bounds these but what AWS does against floods: the
   * request is free, and its line of the access log and its answer are not.
   */
  readonly refusals: number;
  readonly total: number;
}

/** @param entries the length of the inventory, since a whole list is the most expensive request by far */
export function toWorstMonth(
  settings: StageSettings,
  recorded: readonly AnswerUnits[],
  prices: PriceTable,
  entries: number,
): WorstMonth {
  // Of a flood, nothing but the settled share is traced.
  const pricing = toStagePricing(settings, prices, Number.MAX_SAFE_INTEGER);
  const traffic: Traffic = {
    entries,
    shares: operationIds.map((id) => mostExpensiveShare(settings, id, recorded, pricing, entries)),
  };
  const requests = toRequestsBill(traffic, recorded, pricing);
  const other = toGatewayDollars(recorded, pricing, settings.throttles.other.rate, 1);
  const refusals = toGatewayDollars(recorded, pricing, accountThrottle.rate, 0);
  return { requests, other, refusals, total: sumDollars(requests.dollars) + other + refusals };
}

function mostExpensiveShare(
  settings: StageSettings,
  operationId: OperationId,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
  entries: number,
): TrafficShare {
  const priced = answersOf[operationId].flatMap((answer) => {
    const units = findUnits(recorded, operationId, answer, entries);
    if (!units) return [];
    const rate = toHighestRate(settings, operationId, units.billedMilliseconds);
    const dollars = sumDollars(toDollarsPerMillion(units, pricing)) * rate;
    return [{ answer, requests: rate * SECONDS_A_MONTH, dollars }];
  });
  const [first] = priced.sort((one, other) => other.dollars - one.dollars);
  if (!first) throw new Error(`There are no units of ${operationId}: npm run units measures them.`);
  return { operationId, answer: first.answer, requests: first.requests };
}

/** Requests a second: what the throttle lets through, and no more than run at once. */
function toHighestRate(settings: StageSettings, id: OperationId, milliseconds: number): number {
  const { rate } = settings.throttles[id];
  const reserved = toReservedConcurrency(settings, id);
  return reserved === undefined || milliseconds === 0
    ? rate
    : Math.min(rate, (reserved * 1000) / milliseconds);
}

/** What the gateway answers by itself, which costs what a 429 does; that alone counts as no request. */
function toGatewayDollars(
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
  rate: number,
  gatewayRequests: 0 | 1,
): number {
  const refused = findUnits(recorded, 'getPet', '429', 0);
  if (!refused) return 0;
  const one = { ...toRequestUsage(refused, pricing), gatewayRequests };
  const usage = scaleUsage(one, rate * SECONDS_A_MONTH);
  const stepped = { ...sumUsage([]), gatewayRequests: usage.gatewayRequests };
  return sumDollars(toDollars(usage, toRates(pricing.prices, stepped)));
}
