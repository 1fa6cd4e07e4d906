import type { TableName } from './tables.ts';

/** What of a stage's settings says who pays for it, and what its bill is bounded and watched by. */
export interface CostSettings {
  /**
   * Who answers for the stage and for its bill, such as `petstore team`: the tag `owner` of all that the
   * stage is made of.
   */
  readonly owner: string;
  /** Which of its requests X-Ray traces, at $5 per million: more than the rest of a small request. */
  readonly tracing: TraceSampling;
  /** What the stage may cost a month, and who is told by e-mail; default: no budget. */
  readonly budget?: Budget;
  /**
   * Request units a second past which DynamoDB refuses calls to a table: what a mistake can cost, where the
   * throttles do not bound it, as with an import. They must leave room for what the throttles let through at
   * once, or clients get 503. DynamoDB takes them for a target, and may let more through for a while.
   */
  readonly maximumUnitsPerSecond: Readonly<Record<TableName, UnitsPerSecond>>;
  /** The length of the inventory that the stage is to bear, and that its worst month is reckoned with. */
  readonly inventoryEntries: number;
  /**
   * What a month of attack may cost, in dollars: around the clock, with a valid key, whole lists and updates
   * at the throttles' rates, and as much again as is refused. `npm run costs -- --check` fails when throttles and
   * concurrency would let it cost more; `npm run costs -- --worst-case` tells what it is.
   */
  readonly worstMonthDollars: number;
}

export interface UnitsPerSecond {
  readonly read: number;
  readonly write: number;
}

export interface TraceSampling {
  /** The first requests of each second, which are traced in any case. */
  readonly reservedPerSecond: number;
  /** The share of all others. */
  readonly percent: number;
}

/** At most five percentages in all. */
export interface Budget {
  readonly monthlyDollars: number;
  /** E-mail addresses, at most ten. */
  readonly notify: readonly [string, ...string[]];
  /** The shares of the budget, in per cent, that are told of once they are spent. */
  readonly actualPercent: readonly number[];
  /** Those that are told of once AWS expects the month to reach them, for which it needs some weeks of history. */
  readonly forecastPercent: readonly number[];
}
