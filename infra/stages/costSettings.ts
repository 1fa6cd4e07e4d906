/** What of a stage's settings says who pays for it, and what its bill is bounded and watched by. */
export interface CostSettings {
  /**
   * Who answers for the stage and for its bill, such as `petstore team`: the tag `owner` of all that the
   * stage is made of.
   */
  readonly owner: string;
  /** Which of its requests X-Ray traces, at $5 per million: more than the rest of a small request. */
  readonly tracing: TraceSampling;
}

export interface TraceSampling {
  /** The first requests of each second, which are traced in any case. */
  readonly reservedPerSecond: number;
  /** The share of all others. */
  readonly percent: number;
}
