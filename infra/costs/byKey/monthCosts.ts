import { sumDollars } from '../model/components.ts';
import type { DayRange } from './dayRange.ts';
import type { KeyCost } from './keyCosts.ts';

/** What the requests of one calendar month, or of some days of it, have cost. */
export interface MonthCosts {
  readonly days: DayRange;
  readonly keys: readonly KeyCost[];
}

/** What the costs of some days were reckoned by. */
export interface CostReport {
  readonly stage: string;
  /** Those that all of the stage has. */
  readonly tags: Readonly<Record<string, string>>;
  readonly region: string;
  /** The day that the prices were looked up. */
  readonly pricesAsOf: string;
  readonly months: readonly MonthCosts[];
}

export function sumCosts(costs: readonly KeyCost[]): number {
  return costs.reduce((total, { dollars }) => total + sumDollars(dollars), 0);
}
