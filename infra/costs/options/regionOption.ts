import { toRegion } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import type { Stage } from '../../stages/stages.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { defaultRegion, priceTables } from '../prices/priceTables.ts';

/** Where prices are known. */
export const pricedRegions: readonly string[] = Object.keys(priceTables);

/**
 * Whose prices count: those of the region that is named, or of that which the stage is deployed to.
 * @throws {UsageError} when they are not known
 */
export function readPrices(
  typed: string | undefined,
  stage: Stage,
): { readonly region: string; readonly prices: PriceTable } {
  const region = typed ?? toRegion(stage).region ?? defaultRegion;
  const prices = Object.hasOwn(priceTables, region) ? priceTables[region] : undefined;
  if (prices) return { region, prices };
  throw new UsageError(
    `The prices of ${region} are not known: add them to infra/costs/prices, or take --region ${pricedRegions.join(' or ')}.`,
  );
}
