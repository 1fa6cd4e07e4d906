import { countMetrics, type MetricCounts, type PricedStage } from '../../../infra/costs/figures.ts';
import { buildTemplates } from '../../../infra/deploy/buildApp.ts';
import type { Stage } from '../../../infra/stages/stages.ts';

/** By the stage as JSON, without the settings that are in no template. */
const counted = new Map<string, MetricCounts>();

/** The stage, with what AWS bills by the month as counted in its templates. */
export function priceStage(stage: Stage): PricedStage {
  const budgets = { maxIncreaseDollars: 0, maxIncreasePercent: 0, worstMonthDollars: 0 };
  const key = JSON.stringify({ ...stage, settings: { ...stage.settings, ...budgets } });
  const metrics = counted.get(key) ?? countMetrics(buildTemplates(stage));
  counted.set(key, metrics);
  return { ...stage, metrics };
}
