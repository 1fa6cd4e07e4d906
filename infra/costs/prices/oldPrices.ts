import type { PriceTable } from './priceTable.ts';

const YEAR = 365 * 24 * 3600 * 1000;

/** Says on the error output that prices have to be looked up again, when they are over a year old. */
export function warnOfOldPrices({ asOf }: PriceTable, now: Date): void {
  if (now.getTime() - Date.parse(asOf) <= YEAR) return;
  process.stderr.write(
    `The prices are of ${asOf}, over a year old: look them up again, at the pages that infra/costs/prices names.\n`,
  );
}
