import type { PriceTable } from './priceTable.ts';
import { usEast1 } from './usEast1.ts';

/** The regions whose prices are known. Those of Ohio and Oregon are Virginia's, for all that is billed here. */
export const priceTables: Readonly<Record<string, PriceTable>> = {
  'us-east-1': usEast1,
  'us-east-2': usEast1,
  'us-west-2': usEast1,
};

/** Where a stage has no region of its own. */
export const defaultRegion = 'us-east-1';
export const defaultPrices: PriceTable = usEast1;

/** A region's prices; Virginia's where they are not known. */
export function findPrices(region: string | undefined): PriceTable {
  return priceTables[region ?? defaultRegion] ?? defaultPrices;
}
