import { parseArgs } from 'node:util';
import { UsageError } from '../cli/usage.ts';
import { writeOut } from '../cli/writeOut.ts';
import { byKeyFlags, byKeyHelp } from './byKey/byKeyOptions.ts';
import { tellChangesSince } from './change/changesSince.ts';
import {
  type CostOptions,
  costsHelp,
  hasTraffic,
  parseCostOptions,
  toReportInput,
} from './costOptions.ts';
import { NoSuchAnswer } from './model/monthlyBill.ts';
import { warnOfOldPrices } from './prices/oldPrices.ts';
import { reconcileFlags, reconcileHelp } from './reconcile/reconcileOptions.ts';
import { type CostReport, toCostReport } from './report/costReport.ts';
import {
  toMonthText,
  toOperationsText,
  toSavingsText,
  toWorstMonthText,
} from './report/reportText.ts';

/** @throws {UsageError} when what was typed makes no sense */
export async function runCosts(args: string[]): Promise<void> {
  if (isAsked(args, 'help') || args.includes('-h')) {
    return writeOut([costsHelp, byKeyHelp, reconcileHelp].join('\n'));
  }
  // These two load the clients of AWS, and a reader of Parquet.
  if (isAsked(args, 'by-key')) {
    const { runByKey } = await import('./byKey/runByKey.ts');
    return runByKey(parseArgs({ args, options: byKeyFlags }).values);
  }
  if (isAsked(args, 'reconcile')) {
    const { runReconcile } = await import('./reconcile/runReconcile.ts');
    return runReconcile(parseArgs({ args, options: reconcileFlags }).values);
  }
  const options = parseCostOptions(args);
  if (options.diff !== undefined) return writeOut(tellChangesSince(options.diff));
  const input = toReportInput(options);
  warnOfOldPrices(input.prices, new Date());
  try {
    const report = toCostReport(input);
    await writeOut(`${options.json ? JSON.stringify(report, null, 2) : toText(report, options)}\n`);
  } catch (error) {
    throw error instanceof NoSuchAnswer ? new UsageError(error.message) : error;
  }
}

/** Whether the command is asked for something that has options of its own. */
function isAsked(args: readonly string[], option: string): boolean {
  return args.some((arg) => arg === `--${option}` || arg.startsWith(`--${option}=`));
}

function toText(report: CostReport, options: CostOptions): string {
  if (options['worst-case']) return toWorstMonthText(report.worstMonth);
  if (!hasTraffic(options)) return toOperationsText(report);
  const title = `A month of ${report.stage}, ${report.region}, prices of ${report.pricesAsOf}`;
  return `${toMonthText(report.month, { title })}\n\n${toSavingsText(report.savings)}`;
}
