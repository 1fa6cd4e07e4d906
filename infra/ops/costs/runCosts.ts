import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { UsageError } from '../../cli/usage.ts';
import { findCostChanges } from '../../costs/bills/costChanges.ts';
import { type CostReport, toCostReport } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { readCommittedTraffic, TrafficError } from '../../costs/bills/traffic.ts';
import { findPrices } from '../../costs/prices.ts';
import { parseUnits, readRecordedUnits } from '../../costs/units/answerUnits.ts';
import { type Stage, stages, stagesFile } from '../../stages/stages.ts';
import {
  byKeyHelp,
  type CostOptions,
  costsHelp,
  flags,
  hasTraffic,
  parseCostOptions,
  reconcileHelp,
  toReportInput,
} from './costOptions.ts';
import { toMonthText, toOperationsText, toSavingsText, toWorstMonthText } from './costsText.ts';

/** @throws {UsageError} when what was typed makes no sense */
export async function runCosts(args: string[]): Promise<void> {
  try {
    await runOption(args);
  } catch (error) {
    throw error instanceof TrafficError ? new UsageError(error.message) : error;
  }
}

async function runOption(args: string[]): Promise<void> {
  if (isAsked(args, 'help') || args.includes('-h')) {
    return writeOut([costsHelp, byKeyHelp, reconcileHelp].join('\n'));
  }
  // These two load the clients of AWS, and a reader of Parquet.
  if (isAsked(args, 'by-key')) {
    const { runByKey } = await import('./runByKey.ts');
    return runByKey(parseArgs({ args, options: flags.byKey }).values);
  }
  if (isAsked(args, 'reconcile')) {
    const { runReconcile } = await import('./runReconcile.ts');
    return runReconcile(parseArgs({ args, options: flags.reconcile }).values);
  }
  const options = parseCostOptions(args);
  if (options.diff !== undefined) return writeOut(toChangesText(options.diff));
  if (options.check) {
    const checked =
      options.stage === undefined ? Object.values(stages) : [parseStage(options.stage)];
    return writeOut(checkWorstMonths(checked));
  }
  const report = toCostReport(toReportInput(options));
  await writeOut(`${options.json ? JSON.stringify(report, null, 2) : toText(report, options)}\n`);
}

/** Whether the command is asked for something that has options of its own. */
function isAsked(args: readonly string[], option: string): boolean {
  return args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));
}

function toText(report: CostReport, options: CostOptions): string {
  if (options['worst-case']) return toWorstMonthText(report.worstMonth);
  if (!hasTraffic(options)) return toOperationsText(report);
  const title = `A month of ${report.stage}, ${report.region}, prices of ${report.pricesAsOf}`;
  return `${toMonthText(report.month, title)}\n\n${toSavingsText(report.savings)}`;
}

/**
 * Holds what a month of attack could cost at a stage's throttles and concurrency to what the stage allows.
 * Where the region's prices are not known, Virginia's stand in for them.
 * @throws {Error} in a sentence for each stage whose worst month costs more
 */
export function checkWorstMonths(checked: readonly Stage[]): string {
  const found = checked.map(({ name, settings }) => {
    const { inventoryEntries, region, worstMonthDollars: limit } = settings;
    const { total } = toWorstMonth(settings, findPrices(region), inventoryEntries);
    return { name, total: Math.ceil(total), limit };
  });
  const failed = found.filter(({ total, limit }) => total > limit);
  if (failed.length > 0) {
    const sentences = failed.map(
      ({ name, total, limit }) =>
        `The worst month of ${name} can cost $${total}, more than its worstMonthDollars of ${limit}: lower its throttles in ${stagesFile}, or raise worstMonthDollars there (npm run costs -- --worst-case --stage ${name}).`,
    );
    throw new Error(sentences.join(' '));
  }
  const lines = found.map(
    ({ name, total, limit }) =>
      `The worst month of ${name} costs at most $${total}, within its worstMonthDollars of ${limit}.\n`,
  );
  return lines.join('');
}

/**
 * What a request costs now and did not at a commit, in sentences.
 * @param revision as git takes it
 * @throws {UsageError} when there is no such commit, or its units were not written down
 */
function toChangesText(revision: string): string {
  const path = 'infra/costs/units/units.json';
  const changes = findCostChanges(
    parseUnits(readFileAt(revision, path)),
    readRecordedUnits(),
    readCommittedTraffic(),
  );
  if (changes.length === 0) return `No request costs more or less than at ${revision}.\n`;
  return changes.map((sentence) => `- ${sentence}\n`).join('');
}

function readFileAt(revision: string, path: string): string {
  try {
    return execFileSync('git', ['show', '--end-of-options', `${revision}:${path}`], {
      cwd: new URL('../../..', import.meta.url),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 2 ** 26,
    });
  } catch {
    throw new UsageError(
      `git has no ${path} at ${JSON.stringify(revision)}; name a commit that has.`,
    );
  }
}
