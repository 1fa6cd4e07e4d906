import { existsSync, readFileSync } from 'node:fs';
import { type UsageKind, usageKinds } from './usageParts.ts';

/** Dollars per unit, or steps in rising order. Each step ends at a number of units a month; the last has no end. */
export type Price = number | readonly { readonly upTo?: number; readonly dollars: number }[];

/** The average price per unit in a month with `units` units; for 0 units, the price of the first step. */
export function toUnitDollars(price: Price, units: number): number {
  if (typeof price === 'number') return price;
  if (units === 0) return price[0]?.dollars ?? 0;
  let sum = 0;
  let from = 0;
  for (const { upTo = Number.POSITIVE_INFINITY, dollars } of price) {
    sum += Math.max(0, Math.min(units, upTo) - from) * dollars;
    from = upTo;
  }
  return sum / units;
}

/** In US dollars, keyed by what AWS counts. Logs are queried by the commands, never by the service. */
export type Prices = Readonly<Record<UsageKind | 'queriedGigabytes', Price>>;

/** Without tax, and without monthly free allowances, since other services of the account may use them up. */
interface PriceTable {
  /** The day these prices were looked up. */
  readonly asOf: string;
  readonly prices: Prices;
}

/** The region of a stage whose settings and environment name none. */
export const usualRegion = 'us-east-1';

/** @throws {Error} when nobody has looked up the prices of the region, or not all of them */
export function readPrices(region = usualRegion, file = toPriceFile(region)): PriceTable {
  const remedy = `npx petstore costs prices --region ${region} reads them from AWS.`;
  if (!existsSync(file)) throw new Error(`The prices of ${region} are not known: ${remedy}`);
  const table: PriceTable = JSON.parse(readFileSync(file, 'utf8'));
  const missing = usageKinds.find((kind) => table.prices[kind] === undefined);
  if (missing) throw new Error(`The prices of ${region} have no ${missing}: ${remedy}`);
  return table;
}

export function hasPrices(region = usualRegion): boolean {
  return existsSync(toPriceFile(region));
}

export function toPriceFile(region: string): URL {
  return new URL(`prices/${region}.json`, import.meta.url);
}
