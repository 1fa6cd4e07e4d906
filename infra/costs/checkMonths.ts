import { readFileSync } from 'node:fs';
import { log } from '../cli/output.ts';
import { type Stage, stagesFile } from '../stages/stages.ts';
import { priceMonth, priceWorstMonth } from './bills/monthlyBill.ts';
import { readCommittedTraffic } from './bills/traffic.ts';
import { toCents } from './bills/usage.ts';
import { countMetrics, type PricedStage, type Template } from './figures.ts';

/** The last accepted dollars of a month with the committed traffic, by stage. */
export const readAccepted = (): Partial<Record<string, number>> =>
  JSON.parse(readFileSync(new URL('./accepted.json', import.meta.url), 'utf8'));

export function checkMonths(checked: readonly PricedStage[], accepted = readAccepted()) {
  return checked.flatMap((stage) => [
    { stage: stage.name, ...checkWorstMonth(stage) },
    { stage: stage.name, ...checkIncrease(stage, accepted[stage.name]) },
  ]);
}

/** Prints a line if a month of the stage with these templates can cost more than its limit, or is not known. */
export function warnOfWorstMonth(stage: Stage, templates: readonly Template[]): void {
  try {
    const { isWithin, text } = checkWorstMonth({ ...stage, metrics: countMetrics(templates) });
    if (!isWithin) log(`Warning: ${text}`);
  } catch (error) {
    // Such as in a region whose prices nobody has looked up.
    log(`Warning: The worst month of ${stage.name} is not known. ${(error as Error).message}`);
  }
}

function checkWorstMonth(stage: PricedStage) {
  const { name, settings } = stage;
  const total = Math.ceil(priceWorstMonth(stage).total);
  const isWithin = total <= settings.worstMonthDollars;
  const limit = `its worstMonthDollars of ${settings.worstMonthDollars}`;
  const text = isWithin
    ? `costs at most $${total}, within ${limit}.`
    : `can cost $${total}, more than ${limit}. npx petstore costs check REV says why. Lower its throttles in ${stagesFile}, or raise worstMonthDollars there.`;
  return { isWithin, text: `The worst month of ${name} ${text}` };
}

function checkIncrease(stage: PricedStage, accepted: number | undefined) {
  const total = Number(priceMonth(stage, readCommittedTraffic()).total.toFixed(2));
  const { name } = stage;
  const month = `At the traffic of infra/costs/traffic.json, ${name}`;
  const remedy = `To accept it, set "${name}": ${toCents(total)} in infra/costs/accepted.json; its owners in .github/CODEOWNERS must approve.`;
  if (accepted === undefined) {
    const text = `${month} costs $${toCents(total)} a month, and no month of it was accepted. ${remedy}`;
    return { isWithin: false, text };
  }
  const { added, percent, isWithin, limits } = checkLimits(stage, total, accepted);
  const change = `${month} $${toCents(accepted)} → $${toCents(total)} a month: $${toCents(added)} (${percent.toFixed(1)} %) more than accepted`;
  const text = isWithin
    ? `${change}, within its ${limits}.`
    : `${change}, past its ${limits}. npx petstore costs check REV says whether its traffic or its price rose. ${remedy}`;
  return { isWithin, text };
}

/** Whether a month's increase over the accepted one is within the stage's limits. */
export function checkLimits({ settings }: Stage, total: number, accepted: number) {
  const { maxIncreaseDollars, maxIncreasePercent } = settings;
  const added = Math.max(0, total - accepted);
  const percent = added > 0 ? (100 * added) / accepted : 0;
  // Cents are not exact in binary.
  const isWithin = added < maxIncreaseDollars + 0.005 && percent <= maxIncreasePercent;
  const limits = `maxIncreaseDollars of ${maxIncreaseDollars} and maxIncreasePercent of ${maxIncreasePercent}`;
  return { added, percent, isWithin, limits };
}
