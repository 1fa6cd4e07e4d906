/** One step of a price that falls with what an account uses in a month. */
export interface Tier {
  /** The units of the month that the step ends at; none at the last one. */
  readonly upTo?: number;
  /** Dollars for a million units. */
  readonly perMillion: number;
}

/** Steps in rising order, the last without an end. */
export type TieredPrice = readonly [...Tier[], Tier];

/**
 * What so many units of one month cost, in dollars.
 * @param units from 0
 */
export function toTieredDollars(price: TieredPrice, units: number): number {
  let dollars = 0;
  let from = 0;
  for (const { upTo = Number.POSITIVE_INFINITY, perMillion } of price) {
    if (units <= from) break;
    dollars += ((Math.min(units, upTo) - from) / 1e6) * perMillion;
    from = upTo;
  }
  return dollars;
}

/** What a million units cost while the month has few, in dollars. */
export function toFirstPrice(price: TieredPrice): number {
  return price[0]?.perMillion ?? 0;
}
