import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeOut } from '../cli/output.ts';
import { UsageError } from '../cli/usage.ts';
import { byKeyFlags, byKeyHelp } from './byKey/byKeyOptions.ts';
import { tellChangesSince } from './change/changesSince.ts';
import { toCharts } from './charts/charts.ts';
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
    if (options.charts !== undefined) return await writeCharts(options.charts, toCharts(input));
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

async function writeCharts(folder: string, charts: ReadonlyMap<string, string>): Promise<void> {
  const files = [...charts].map(([name, svg]) => [join(folder, name), svg] as const);
  try {
    mkdirSync(folder, { recursive: true });
    for (const [file, svg] of files) writeFileSync(file, svg);
  } catch (error) {
    throw new UsageError(`--charts cannot be written: ${(error as Error).message}.`);
  }
  await writeOut(files.map(([file]) => `${file}\n`).join(''));
}
