import type { Stage } from '../../stages/stages.ts';
import { type Dollars, sumDollars } from '../model/components.ts';
import {
  type FixedDollars,
  readFixedUnits,
  sumFixedDollars,
  toFixedDollars,
} from '../model/fixedCosts.ts';
import { type BilledShare, toRequestsBill } from '../model/monthlyBill.ts';
import { type OperationCost, toOperationCosts } from '../model/operationCosts.ts';
import { type Saving, toSavings } from '../model/savings.ts';
import { toStagePricing } from '../model/stagePricing.ts';
import { toWorstMonth } from '../model/worstMonth.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { sumRequests, type Traffic } from '../traffic/traffic.ts';
import { readRecordedUnits } from '../units/recordedUnits.ts';

/** All that the model says of a stage; dollars are US dollars without tax. */
export interface CostReport {
  readonly stage: string;
  readonly region: string;
  readonly pricesAsOf: string;
  readonly operations: readonly OperationCost[];
  readonly month: Month;
  readonly worstMonth: WorstMonthReport;
  readonly savings: readonly Saving[];
}

/** A month with a certain traffic, in dollars. */
export interface Month {
  readonly entries: number;
  readonly requests: number;
  readonly fixed: number;
  readonly total: number;
  readonly components: Dollars;
  /** What of the requests is for reading the keys' records anew, once a minute. */
  readonly keyReads: number;
  readonly fixedParts: FixedDollars;
  readonly shares: readonly BilledShare[];
}

/** A month of attack at all that the stage's settings let through, in dollars. */
export interface WorstMonthReport extends Month {
  /** What the gateway answers by itself at its own throttle, such as unknown paths. */
  readonly other: number;
  /** Answers of 429 at 10,000 a second, which nothing bounds. */
  readonly refusals: number;
}

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

export function toCostReport(input: ReportInput): CostReport {
  const { stage, region, prices, traffic, sizes, worstEntries } = input;
  const recorded = readRecordedUnits();
  const pricing = toStagePricing(stage, prices, sumRequests(traffic));
  return {
    stage: stage.name,
    region,
    pricesAsOf: prices.asOf,
    operations: toOperationCosts(recorded, pricing, sizes),
    month: toMonth(input),
    worstMonth: toWorstMonthReport(stage, prices, worstEntries),
    savings: toSavings(traffic, recorded, pricing),
  };
}

/** A month's bill, with what the stage costs in any case. */
export function toMonth({
  stage,
  prices,
  traffic,
}: Pick<ReportInput, 'stage' | 'prices' | 'traffic'>): Month {
  const pricing = toStagePricing(stage, prices, sumRequests(traffic));
  const { shares, dollars, keyReads } = toRequestsBill(traffic, readRecordedUnits(), pricing);
  const fixedParts = toFixedDollars(readFixedUnits()[stage.name], prices, traffic.entries);
  const requests = sumDollars(dollars);
  const fixed = sumFixedDollars(fixedParts);
  const { entries } = traffic;
  return {
    entries,
    requests,
    fixed,
    total: requests + fixed,
    components: dollars,
    keyReads,
    fixedParts,
    shares,
  };
}

/** @param entries the length of the inventory, since whole lists are the dearest by far */
export function toWorstMonthReport(
  stage: Stage,
  prices: PriceTable,
  entries: number,
): WorstMonthReport {
  const recorded = readRecordedUnits();
  // Of a flood, nothing but the settled share is traced.
  const pricing = toStagePricing(stage, prices, Number.MAX_SAFE_INTEGER);
  const {
    requests: bill,
    other,
    refusals,
    total,
  } = toWorstMonth(stage, recorded, pricing, entries);
  const fixedParts = toFixedDollars(readFixedUnits()[stage.name], prices, entries);
  const fixed = sumFixedDollars(fixedParts);
  return {
    entries,
    requests: sumDollars(bill.dollars),
    other,
    refusals,
    fixed,
    total: total + fixed,
    components: bill.dollars,
    keyReads: bill.keyReads,
    fixedParts,
    shares: bill.shares,
  };
}
