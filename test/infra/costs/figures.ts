import { countMetrics, type PricedStage } from '../../../infra/costs/figures.ts';
import { buildTemplates } from '../../../infra/deploy/buildApp.ts';
import type { Stage } from '../../../infra/stages/stages.ts';

/** The stage, with what AWS bills by the month as counted in its templates. */
export function priceStage(stage: Stage): PricedStage {
  return { ...stage, metrics: countMetrics(buildTemplates(stage)) };
}
