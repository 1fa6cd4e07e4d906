import { writeOut } from '../../cli/output.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { type CostReport, toCostReport, toStageMonth } from '../../costs/bills/costReport.ts';
import { pricedRegions } from '../../costs/prices.ts';
import { stages } from '../../stages/stages.ts';
import { checkMonths } from './checkMonths.ts';
import {
  type CostOptions,
  parseCostOptions,
  parseWhole,
  readTraffic,
  toMonthlyTraffic,
  warnOfPrices,
} from './costOptions.ts';
import {
  toMonthsText,
  toMonthText,
  toOperationsText,
  toSavingsText,
  toWorstMonthText,
} from './costsText.ts';
import { runDiff } from './runDiff.ts';

/** @throws {UsageError} when what was typed makes no sense */
export async function runCosts(args: string[]): Promise<void> {
  const options = parseCostOptions(args);
  if (options.diff !== undefined) return runDiff(options.diff);
  // These load AWS clients and a Parquet reader.
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
    return writeOut(checkMonths(options.stage ? [stage] : Object.values(stages)));
  }
  const write = (document: object, text: string) =>
    writeOut(`${options.json ? JSON.stringify(document, null, 2) : text}\n`);
  const { region = pricedRegions[0] } = toRegion(stage);
  warnOfPrices(region);
  const entries = parseWhole('--entries', options.entries);
  const traffic = options['from-logs']
    ? await (await import('./logTraffic.ts')).readLogTraffic(options)
    : readTraffic(options);
  if (!traffic) return;
  if (options.months !== undefined) {
    const months = toMonthlyTraffic(traffic, options).map((one) => toStageMonth(stage, one));
    return write(months, toMonthsText(months));
  }
  const report = toCostReport(stage, region, traffic, entries);
  await write(report, toText(report, options));
}

function toText(report: CostReport, options: CostOptions): string {
  if (options['worst-case']) return toWorstMonthText(report.worstMonth);
  const asked = [options.requests, options.traffic, options.shops, options['from-logs']];
  if (asked.every((one) => one === undefined)) return toOperationsText(report);
  const title = `A month of ${report.stage}, ${report.region}, prices of ${report.pricesAsOf}`;
  return `${toMonthText(report.month, title)}\n\n${toSavingsText(report)}`;
}
