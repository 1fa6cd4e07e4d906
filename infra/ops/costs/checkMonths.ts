import { readFileSync } from 'node:fs';
import { toStageMonth } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { toCents } from '../../costs/bills/usage.ts';
import { readSizes } from '../../costs/units/sizes.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';

/** The last accepted dollars of a month with the committed traffic, by stage. */
const acceptedFile = 'infra/costs/accepted.json';
const readAccepted = (): Partial<Record<string, number>> =>
  JSON.parse(readFileSync(new URL('../../costs/accepted.json', import.meta.url), 'utf8'));

/**
 * Checks the limits of each stage: for a month of attack, and for the increase of a month with the committed traffic
 * over the accepted one.
 * @throws {Error} with a message for each month past its limit
 */
export function checkMonths(checked: readonly Stage[], accepted = readAccepted()): string {
  const found = checked.flatMap((stage) => [
    checkWorstMonth(stage),
    checkIncrease(stage, accepted[stage.name]),
  ]);
  const failed = found.filter(({ isWithin }) => !isWithin);
  if (failed.length > 0) throw new Error(failed.map(({ text }) => text).join(' '));
  return found.map(({ text }) => `${text}\n`).join('');
}

function checkWorstMonth({ name, settings }: Stage) {
  const { inventoryEntries, worstMonthDollars: limit } = settings;
  const total = Math.ceil(toWorstMonth(settings, inventoryEntries, readSizes(name)).total);
  const isWithin = total <= limit;
  const text = isWithin
    ? `The worst month of ${name} costs at most $${total}, within its worstMonthDollars of ${limit}.`
    : `The worst month of ${name} can cost $${total}, more than its worstMonthDollars of ${limit}. Lower its throttles in ${stagesFile}, or raise worstMonthDollars there (npm run costs -- --worst-case --stage ${name}).`;
  return { isWithin, text };
}

/** @param accepted 0 for a new stage */
function checkIncrease(stage: Stage, accepted = 0) {
  const total = Number(toStageMonth(stage, readCommittedTraffic()).total.toFixed(2));
  const { name, settings } = stage;
  const { maxIncreaseDollars, maxIncreasePercent } = settings;
  const added = Math.max(0, total - accepted);
  const percent = added > 0 ? (100 * added) / accepted : 0;
  // Cents are not exact in binary.
  const isWithin = added < maxIncreaseDollars + 0.005 && percent <= maxIncreasePercent;
  const limits = `maxIncreaseDollars of ${maxIncreaseDollars} and maxIncreasePercent of ${maxIncreasePercent}`;
  const month = `At the traffic of infra/costs/traffic.json, ${name} $${toCents(accepted)} → $${toCents(total)} a month: $${toCents(added)} (${percent.toFixed(1)} %) more than accepted`;
  const text = isWithin
    ? `${month}, within its ${limits}.`
    : `${month}, past its ${limits}. npm run costs -- --diff REV says why. To accept it, set "${name}": ${total} in ${acceptedFile}; its owners in .github/CODEOWNERS must approve.`;
  return { isWithin, text };
}
