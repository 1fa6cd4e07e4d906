import { readFileSync } from 'node:fs';
import { toStageMonth } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { toCents } from '../../costs/bills/usage.ts';
import { readSizes } from '../../costs/units/sizes.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';

/** The last accepted dollars of a month of the committed traffic, by stage. */
const acceptedFile = 'infra/costs/accepted.json';
const readAccepted = (): Partial<Record<string, number>> =>
  JSON.parse(readFileSync(new URL('../../costs/accepted.json', import.meta.url), 'utf8'));

/**
 * Checks two months against each stage's limits: the worst month, and the increase of the committed traffic's month over
 * its accepted cost.
 * @throws {Error} in a sentence for each month that costs more
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
    : `The worst month of ${name} can cost $${total}, more than its worstMonthDollars of ${limit}: lower its throttles in ${stagesFile}, or raise worstMonthDollars there (npm run costs -- --worst-case --stage ${name}).`;
  return { isWithin, text };
}

/** @param accepted none of a stage that is new, which costs more than nothing */
function checkIncrease(stage: Stage, accepted = 0) {
  const total = Number(toStageMonth(stage, readCommittedTraffic()).total.toFixed(2));
  const { name, settings } = stage;
  const { maxIncreaseDollars, maxIncreasePercent } = settings;
  const added = Math.max(0, total - accepted);
  const percent = added > 0 ? (100 * added) / accepted : 0;
  // Dollars with cents are not exact in binary.
  const isWithin = added < maxIncreaseDollars + 0.005 && percent <= maxIncreasePercent;
  const limits = `maxIncreaseDollars of ${maxIncreaseDollars} and maxIncreasePercent of ${maxIncreasePercent}`;
  const month = `At the traffic of infra/costs/traffic.json, ${name} $${toCents(accepted)} → $${toCents(total)} a month: $${toCents(added)} (${percent.toFixed(1)} %) more than accepted`;
  const text = isWithin
    ? `${month}, within its ${limits}.`
    : `${month}, past its ${limits}: npm run costs -- --diff REV says what moved it, and "${name}": ${total} in ${acceptedFile} accepts it, once its owners in .github/CODEOWNERS approve.`;
  return { isWithin, text };
}
