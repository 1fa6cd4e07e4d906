import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { Stage } from '../../stages/stages.ts';
import { PRICES_AS_OF } from '../prices.ts';
import { type Answer, answersOf, findUnits, growsWithInventory } from '../units/answerUnits.ts';
import { toMonth, toRequestsBill, toStagePricing, toWorstMonth } from './monthlyBill.ts';
import { sumRequests, type Traffic, type TrafficShare } from './traffic.ts';
import { type Dollars, type RequestPricing, sumDollars, toDollarsPerMillion } from './usage.ts';

export interface ReportInput {
  readonly stage: Stage;
  readonly region: string;
  readonly traffic: Traffic;
  /** The lengths of the inventory that lists are priced for. */
  readonly sizes: readonly number[];
  /** That of the worst month. */
  readonly worstEntries: number;
}

export type CostReport = ReturnType<typeof toCostReport>;

/** All that the model says of a stage; dollars are US dollars without tax. */
export function toCostReport(input: ReportInput) {
  const { stage, region, traffic, sizes, worstEntries } = input;
  const { name, settings } = stage;
  const pricing = toStagePricing(settings, sumRequests(traffic));
  return {
    stage: name,
    region,
    pricesAsOf: PRICES_AS_OF,
    operations: toOperationCosts(pricing, sizes),
    month: toMonth(settings, traffic, pricing),
    worstMonth: toWorstMonth(settings, worstEntries),
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
}

/** @param sizes the lengths of the inventory that lists are priced for */
export function toOperationCosts(
  pricing: RequestPricing,
  sizes: readonly number[],
): OperationCost[] {
  return operationIds.flatMap((operationId) =>
    answersOf[operationId].flatMap((answer) => {
      const isSized = growsWithInventory(operationId, answer);
      return (isSized ? sizes : [0]).flatMap((entries) => {
        const units = findUnits(pricing, operationId, answer, entries);
        if (!units) return [];
        const components = toDollarsPerMillion(units, pricing);
        const dollarsPerMillion = sumDollars(components);
        const size = isSized && { entries };
        return [{ operationId, answer, ...size, dollarsPerMillion, components }];
      });
    }),
  );
}

/** What would make a month cheaper, or more expensive where the dollars are negative. */
export interface Saving {
  readonly name: string;
  /** Saved in a month of this traffic. */
  readonly dollars: number;
  /** What it takes, or what is lost by it. */
  readonly price: string;
}

/** Each by itself: two together save less than their sum. */
export function toSavings(traffic: Traffic, pricing: RequestPricing): Saving[] {
  const toTotal = (shares: readonly TrafficShare[], changed: Partial<RequestPricing> = {}) =>
    sumDollars(toRequestsBill({ ...traffic, shares }, { ...pricing, ...changed }).dollars);
  const toLists = (from: readonly Answer[], answer: Answer) =>
    traffic.shares.map((share) => {
      const isMeant = share.operationId === 'listInventory' && from.includes(share.answer);
      return isMeant ? { ...share, answer } : share;
    });
  const { shares } = traffic;
  const halved = pricing.units.map((one) => ({ ...one, memoryMegabytes: one.memoryMegabytes / 2 }));
  const totals: readonly [name: string, total: number, price: string][] = [
    [
      'Every client takes lists with zstd',
      toTotal(toLists(['200', '200 gzip'], '200 zstd')),
      "a header of the clients'; browsers send it by themselves",
    ],
    [
      'Entries by petId= in place of whole lists',
      toTotal(toLists(['200', '200 gzip', '200 zstd', '304'], '200 petId')),
      'clients that know which entries they show',
    ],
    [
      'No X-Ray traces',
      toTotal(shares, { tracedPercent: 0 }),
      'where the time of a slow request went',
    ],
    [
      'Functions with half the memory',
      toTotal(shares, { units: halved }),
      'half the processor: at most this much, and less for what computes',
    ],
  ];
  return totals.map(([name, total, price]) => ({ name, dollars: toTotal(shares) - total, price }));
}
