import type { Stage } from '../../stages/stages.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { readRecordedUnits } from '../units/recordedUnits.ts';
import { type FixedDollars, sumFixedDollars, toFixedDollars, toFixedUnits } from './fixedCosts.ts';
import { type RequestsBill, toRequestsBill, toStagePricing } from './monthlyBill.ts';
import { type OperationCost, toOperationCosts } from './requestCosts.ts';
import { type Saving, toSavings } from './savings.ts';
import { sumRequests, type Traffic } from './traffic.ts';
import { type Dollars, sumDollars } from './usage.ts';
import { toWorstMonth } from './worstMonth.ts';

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
  readonly shares: RequestsBill['shares'];
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
  const pricing = toStagePricing(stage.settings, prices, sumRequests(traffic));
  const bill = toRequestsBill(traffic, recorded, pricing);
  return {
    stage: stage.name,
    region,
    pricesAsOf: prices.asOf,
    operations: toOperationCosts(recorded, pricing, sizes),
    month: toMonth(stage, prices, traffic.entries, bill),
    worstMonth: toWorstMonthReport(stage, prices, worstEntries),
    savings: toSavings(traffic, recorded, pricing),
  };
}

/** @param entries the length of the inventory, since whole lists are the most expensive by far */
export function toWorstMonthReport(
  stage: Stage,
  prices: PriceTable,
  entries: number,
): WorstMonthReport {
  const worst = toWorstMonth(stage.settings, readRecordedUnits(), prices, entries);
  const { other, refusals } = worst;
  const month = toMonth(stage, prices, entries, worst.requests);
  return { ...month, other, refusals, total: month.total + other + refusals };
}

/** A month's bill, with what the stage costs in any case. */
function toMonth(
  { settings }: Stage,
  prices: PriceTable,
  entries: number,
  { shares, dollars, keyReads }: RequestsBill,
): Month {
  const fixedParts = toFixedDollars(toFixedUnits(settings), prices, entries);
  const requests = sumDollars(dollars);
  const fixed = sumFixedDollars(fixedParts);
  const total = requests + fixed;
  return { entries, requests, fixed, total, components: dollars, keyReads, fixedParts, shares };
}
