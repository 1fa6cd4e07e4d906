import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import type { Stage } from '../../stages/stages.ts';
import type { PriceTable } from '../prices.ts';
import {
  type Answer,
  type AnswerUnits,
  answersOf,
  findUnits,
  growsWithInventory,
  readRecordedUnits,
} from '../units/answerUnits.ts';
import { toMonth, toRequestsBill, toStagePricing, toWorstMonth } from './monthlyBill.ts';
import { sumRequests, type Traffic, type TrafficShare } from './traffic.ts';
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
}

/** @param sizes the lengths of the inventory that lists are priced for */
export function toOperationCosts(
  pricing: RequestPricing,
  sizes: readonly number[],
): OperationCost[] {
  const recorded = readRecordedUnits();
  return operationIds.flatMap((operationId) =>
    answersOf[operationId].flatMap((answer) => {
      const isSized = growsWithInventory(operationId, answer);
      return (isSized ? sizes : [0]).flatMap((entries) => {
        const units = findUnits(recorded, operationId, answer, entries);
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

interface Changed {
  readonly shares?: readonly TrafficShare[];
  readonly pricing?: RequestPricing;
  readonly recorded?: readonly AnswerUnits[];
}

/** Each by itself: two together save less than their sum. */
export function toSavings(traffic: Traffic, pricing: RequestPricing): Saving[] {
  const now = { shares: traffic.shares, pricing, recorded: readRecordedUnits() };
  const toTotal = (changed: Changed) => {
    const { shares, pricing, recorded } = { ...now, ...changed };
    return sumDollars(toRequestsBill({ ...traffic, shares }, pricing, recorded).dollars);
  };
  const toLists = (from: readonly Answer[], answer: Answer) =>
    traffic.shares.map((share) =>
      share.operationId === 'listInventory' && from.includes(share.answer)
        ? { ...share, answer }
        : share,
    );
  const halved = now.recorded.map((one) => ({ ...one, memoryMegabytes: one.memoryMegabytes / 2 }));
  const changes: readonly [name: string, changed: Changed, price: string][] = [
    [
      'Every client takes lists with zstd',
      { shares: toLists(['200', '200 gzip'], '200 zstd') },
      "a header of the clients'; browsers send it by themselves",
    ],
    [
      'Entries by petId= in place of whole lists',
      { shares: toLists(['200', '200 gzip', '200 zstd', '304'], '200 petId') },
      'clients that know which entries they show',
    ],
    [
      'No X-Ray traces',
      { pricing: { ...pricing, tracedPercent: 0 } },
      'where the time of a slow request went',
    ],
    [
      'Functions with half the memory',
      { recorded: halved },
      'half the processor: at most this much, and less for what computes',
    ],
  ];
  return changes.map(([name, changed, price]) => {
    return { name, dollars: toTotal({}) - toTotal(changed), price };
  });
}
