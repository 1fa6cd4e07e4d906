import type { commands } from '../../cli/commands.ts';
import { writeResult } from '../../cli/output.ts';
import type { Runs } from '../../cli/program.ts';
import { UsageError } from '../../cli/usage.ts';
import { toCostReport, toStageMonth } from '../../costs/bills/costReport.ts';
import { toWorstMonth } from '../../costs/bills/monthlyBill.ts';
import { readCommittedTraffic, scaleTraffic } from '../../costs/bills/traffic.ts';
import { readCommittedFigures } from '../../costs/figures.ts';
import { readPrices } from '../../costs/prices.ts';
import { stages } from '../../stages/stages.ts';
import { checkMonths } from './checkMonths.ts';
import { type CostOptions, readTraffic, toPricedStage } from './costOptions.ts';
import { toMonthsText, toOperationsText, toReportText, toWorstMonthText } from './costsText.ts';
import { runDiff } from './runDiff.ts';

export const runs: Runs<typeof commands.costs.subcommands> = {
  async requests(options) {
    const stage = toPricedStage(options.stage);
    const report = toCostReport(stage, readCommittedTraffic(), options.entries);
    // JSON leaves out what is undefined.
    const document = { ...report, month: undefined, savings: undefined };
    await writeResult(options, document, toOperationsText(report));
  },
  month: runMonth,
  async worst(options) {
    const stage = toPricedStage(options.stage);
    const worstMonth = toWorstMonth(stage, options.entries);
    const { region } = stage.settings;
    const pricesAsOf = readPrices(region).asOf;
    const report = { stage: stage.name, region, pricesAsOf, worstMonth };
    await writeResult(options, report, toWorstMonthText(worstMonth));
  },
  diff: (options, [revision = '']) => runDiff(revision, options),
  async check({ stage, json }) {
    const checked = stage === undefined ? Object.values(stages) : [stage];
    const found = checkMonths(checked, undefined, readCommittedFigures());
    const failed = found.filter(({ isWithin }) => !isWithin);
    if (failed.length > 0 && !json) throw new Error(failed.map(({ text }) => text).join(' '));
    await writeResult({ json }, found, found.map(({ text }) => text).join('\n'));
    if (failed.length > 0) process.exitCode = 1;
  },
  // These load AWS clients or a Parquet reader.
  prices: async (options) => (await import('./runPrices.ts')).runPrices(options),
  'by-key': async (options) => (await import('./runByKey.ts')).runByKey(options),
  forecast: async (options) => (await import('./runByKey.ts')).runForecast(options),
  measure: async (options) => (await import('./runMeasure.ts')).runMeasure(options),
  async reconcile(options, files) {
    return (await import('./runReconcile.ts')).runReconcile(files, options);
  },
};

async function runMonth(options: CostOptions<'month'>): Promise<void> {
  const stage = toPricedStage(options.stage);
  const traffic = readTraffic(options);
  const { months: count, growth } = options;
  if (count === undefined) {
    if (growth !== undefined) throw new UsageError('--growth needs --months.');
    const report = toCostReport(stage, traffic);
    return writeResult(options, { ...report, operations: undefined }, toReportText(report));
  }
  const factor = 1 + (growth ?? 0) / 100;
  const months = Array.from({ length: count }, (_, index) =>
    toStageMonth(stage, scaleTraffic(traffic, factor ** index)),
  );
  await writeResult(options, months, toMonthsText(months));
}
