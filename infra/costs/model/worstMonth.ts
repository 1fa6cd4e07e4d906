import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../../stages/concurrency.ts';
import { accountThrottle } from '../../stages/stageSettings.ts';
import type { Stage } from '../../stages/stages.ts';
import { toTieredDollars } from '../prices/tieredPrice.ts';
import type { Traffic, TrafficShare } from '../traffic/traffic.ts';
import { type Answer, answersOf } from '../units/answers.ts';
import type { AnswerUnits } from '../units/answerUnits.ts';
import { findUnits } from '../units/recordedUnits.ts';
import { type RequestPricing, sumDollars, toDollarsPerMillion } from './components.ts';
import { SECONDS_A_MONTH } from './month.ts';
import { type RequestsBill, toRequestsBill } from './monthlyBill.ts';

/** What a month of attack costs, around the clock and as dear as the stage's settings let it be. */
export interface WorstMonth {
  /** Of every operation, the dearest answer at the highest rate that its throttle and concurrency let through. */
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

/** @param entries the length of the inventory, since a whole list is the dearest request by far */
export function toWorstMonth(
  stage: Stage,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
  entries: number,
): WorstMonth {
  const traffic: Traffic = {
    entries,
    shares: operationIds.map((id) => toDearest(stage, id, recorded, pricing, entries)),
  };
  const requests = toRequestsBill(traffic, recorded, pricing);
  const other = toOther(stage, recorded, pricing);
  const refused = findUnits(recorded, 'getPet', '429', entries);
  const refusals = refused
    ? (sumDollars(toDollarsPerMillion(refused, pricing)) * accountThrottle.rate * SECONDS_A_MONTH) /
      1e6
    : 0;
  return { requests, other, refusals, total: sumDollars(requests.dollars) + other + refusals };
}

function toDearest(
  stage: Stage,
  operationId: OperationId,
  recorded: readonly AnswerUnits[],
  pricing: RequestPricing,
  entries: number,
): TrafficShare {
  const answers: readonly Answer[] = answersOf[operationId];
  const priced = answers.flatMap((answer) => {
    const units = findUnits(recorded, operationId, answer, entries);
    if (!units) return [];
    const dollars = sumDollars(toDollarsPerMillion(units, pricing));
    const rate = toHighestRate(stage, operationId, units.billedMilliseconds);
    return [{ answer, requests: rate * SECONDS_A_MONTH, dollars: dollars * rate }];
  });
  const [dearest] = priced.sort((one, other) => other.dollars - one.dollars);
  if (!dearest) throw new Error(`There are no units of ${operationId}.`);
  return { operationId, answer: dearest.answer, requests: dearest.requests };
}

/** Requests a second: what the throttle lets through, and no more than run at once. */
function toHighestRate(stage: Stage, operationId: OperationId, milliseconds: number): number {
  const { rate } = stage.settings.throttles[operationId];
  const reserved = toReservedConcurrency(stage.settings, operationId);
  return reserved === undefined || milliseconds === 0
    ? rate
    : Math.min(rate, (reserved * 1000) / milliseconds);
}

/** An answer of the gateway's own costs what a refused key does, without the function. */
function toOther(stage: Stage, recorded: readonly AnswerUnits[], pricing: RequestPricing): number {
  const refused = findUnits(recorded, 'getPet', '429', 0);
  if (!refused) return 0;
  const requests = stage.settings.throttles.other.rate * SECONDS_A_MONTH;
  const { logs, transfer } = toDollarsPerMillion(refused, pricing);
  return (
    toTieredDollars(pricing.prices.gatewayRequests, requests) + ((logs + transfer) * requests) / 1e6
  );
}
