import { execFileSync } from 'node:child_process';
import { writeOut } from '../../cli/output.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { findCostChanges } from '../../costs/bills/costChanges.ts';
import { type CostReport, toCostReport } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { pricedRegions } from '../../costs/prices.ts';
import { readRecordedUnits } from '../../costs/units/answerUnits.ts';
import { type Stage, stages, stagesFile } from '../../stages/stages.ts';
import {
  type CostOptions,
  help,
  parseCostOptions,
  parseEntries,
  readTraffic,
  warnOfPrices,
} from './costOptions.ts';
import { toMonthText, toOperationsText, toSavingsText, toWorstMonthText } from './costsText.ts';

/** @throws {UsageError} when what was typed makes no sense */
export async function runCosts(args: string[]): Promise<void> {
  const options = parseCostOptions(args);
  if (options.help) return writeOut(help);
  if (options.diff !== undefined) return writeOut(toChangesText(options.diff));
  // These load the clients of AWS, and a reader of Parquet.
  if (options['from-logs'] && options.json && !options.reconcile) {
    return (await import('./logTraffic.ts')).printLogTraffic(options);
  }
  if (options.measure) return (await import('./runMeasure.ts')).runMeasure(options);
  if (options['by-key']) return (await import('./runByKey.ts')).runByKey(options);
  if (options.reconcile !== undefined) {
    return (await import('./runReconcile.ts')).runReconcile(options.reconcile, options);
  }
  const stage = parseStage(options.stage ?? 'production');
  if (options.check) {
    return writeOut(checkWorstMonths(options.stage ? [stage] : Object.values(stages)));
  }
  const { region = pricedRegions[0] } = toRegion(stage);
  warnOfPrices(region);
  const entries = parseEntries(options.entries);
  const traffic = options['from-logs']
    ? await (await import('./logTraffic.ts')).readLogTraffic(options)
    : readTraffic(options);
  if (!traffic) return;
  const report = toCostReport(stage, region, traffic, entries);
  await writeOut(`${options.json ? JSON.stringify(report, null, 2) : toText(report, options)}\n`);
}

function toText(report: CostReport, options: CostOptions): string {
  if (options['worst-case']) return toWorstMonthText(report.worstMonth);
  if (!(options.requests ?? options.traffic ?? options['from-logs'])) {
    return toOperationsText(report);
  }
  const title = `A month of ${report.stage}, ${report.region}, prices of ${report.pricesAsOf}`;
  return `${toMonthText(report.month, title)}\n\n${toSavingsText(report)}`;
}

/**
 * Holds what a month of attack could cost at a stage's throttles and concurrency to what the stage allows.
 * @throws {Error} in a sentence for each stage whose worst month costs more
 */
export function checkWorstMonths(checked: readonly Stage[]): string {
  const found = checked.map(({ name, settings }) => {
    const { inventoryEntries, worstMonthDollars: limit } = settings;
    const total = Math.ceil(toWorstMonth(settings, inventoryEntries).total);
    const isWithin = total <= limit;
    const text = isWithin
      ? `The worst month of ${name} costs at most $${total}, within its worstMonthDollars of ${limit}.\n`
      : `The worst month of ${name} can cost $${total}, more than its worstMonthDollars of ${limit}: lower its throttles in ${stagesFile}, or raise worstMonthDollars there (npm run costs -- --worst-case --stage ${name}).`;
    return { isWithin, text };
  });
  const failed = found.filter(({ isWithin }) => !isWithin);
  if (failed.length > 0) throw new Error(failed.map(({ text }) => text).join(' '));
  return found.map(({ text }) => text).join('');
}

/**
 * What a request costs now and did not at a commit, in sentences.
 * @param revision as git takes it
 * @throws {Error} when there is no such commit, or its units were not written down
 */
function toChangesText(revision: string): string {
  const object = `${revision}:infra/costs/units/units.json`;
  const before = execFileSync('git', ['show', object], {
    cwd: new URL('../../..', import.meta.url),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const changes = findCostChanges(JSON.parse(before), readRecordedUnits(), readCommittedTraffic());
  if (changes.length === 0) return `No request costs more or less than at ${revision}.\n`;
  return changes.map((sentence) => `- ${sentence}\n`).join('');
}
