import { StageSettingsError } from '../../stages/checkStageSettings.ts';
import type { Stage } from '../../stages/stages.ts';
import { findPrices } from '../prices/priceTables.ts';
import { toWorstMonthReport } from './costReport.ts';

/**
 * Refuses throttles and concurrency by which a month of attack could cost more than the stage may. Where the
 * region's prices are not known, Virginia's stand in for them.
 * @throws {StageSettingsError}
 */
export function checkWorstMonth(stage: Stage): void {
  const { inventoryEntries, region, worstMonthDollars } = stage.settings;
  const { total } = toWorstMonthReport(stage, findPrices(region), inventoryEntries);
  if (total <= worstMonthDollars) return;
  throw new StageSettingsError(
    stage.name,
    'worstMonthDollars',
    `at least ${Math.ceil(total)}, which a month of attack costs at these throttles, or the throttles lower (npm run costs -- --worst-case)`,
    worstMonthDollars,
  );
}
