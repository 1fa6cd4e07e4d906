import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { Stage } from '../../stages/stages.ts';
import type { PriceTable } from '../prices.ts';
import {
  type Answer,
  answersOf,
  findUnits,
  growsWithInventory,
  readRecordedUnits,
  toBilledDuration,
} from '../units/answerUnits.ts';
import { toMonth, toStagePricing, toWorstMonth } from './monthlyBill.ts';
import { toSavings } from './savings.ts';
import { sumRequests, type Traffic } from './traffic.ts';
import { type Dollars, type RequestPricing, sumDollars, toDollarsPerMillion } from './usage.ts';

export interface ReportInput {
  readonly stage: Stage;
  readonly region: string;
  readonly prices: PriceTable;
  readonly traffic: Traffic;
  /** The lengths of the inventory that lists are priced for. */
  readonly sizes: readonly number[];
  /** That of the worst month. */
  readonly worstEntries: number;
}

export type CostReport = ReturnType<typeof toCostReport>;

/** All that the model says of a stage; dollars are US dollars without tax. */
export function toCostReport(input: ReportInput) {
  const { stage, region, prices, traffic, sizes, worstEntries } = input;
  const { name, settings } = stage;
  const pricing = toStagePricing(settings, prices, sumRequests(traffic));
  return {
    stage: name,
    region,
    pricesAsOf: prices.asOf,
    operations: toOperationCosts(pricing, sizes),
    month: toMonth(settings, traffic, pricing),
    worstMonth: toWorstMonth(settings, prices, worstEntries),
    savings: toSavings(traffic, pricing),
  };
}

/** What a million requests with one answer cost. */
export interface OperationCost {
  readonly operationId: OperationId;
  readonly answer: Answer;
  /** The length of the inventory, where the cost grows with it. */
  readonly entries?: number;
  readonly dollarsPerMillion: number;
  readonly components: Dollars;
  /** With calls as short, and as long, as `toBilledDuration` says they may be. */
  readonly range: { readonly low: number; readonly high: number };
}

/** @param sizes the lengths of the inventory that lists are priced for */
export function toOperationCosts(
  pricing: RequestPricing,
  sizes: readonly number[],
): OperationCost[] {
  const recorded = readRecordedUnits();

  function toCost(operationId: OperationId, answer: Answer, entries?: number): OperationCost[] {
    const units = findUnits(recorded, operationId, answer, entries ?? 0);
    if (!units) return [];
    const components = toDollarsPerMillion(units, pricing);
    const toTotal = (billedMilliseconds: number) =>
      sumDollars(toDollarsPerMillion({ ...units, billedMilliseconds }, pricing));
    const { low, high } = toBilledDuration(operationId, answer, entries);
    return [
      {
        operationId,
        answer,
        ...(entries !== undefined && { entries }),
        dollarsPerMillion: sumDollars(components),
        components,
        range: { low: toTotal(low), high: toTotal(high) },
      },
    ];
  }

  return operationIds.flatMap((id) =>
    answersOf[id].flatMap((answer) =>
      growsWithInventory(id, answer)
        ? sizes.flatMap((entries) => toCost(id, answer, entries))
        : toCost(id, answer),
    ),
  );
}
