import type { commands } from '../cli/commands.ts';
import { writeResult } from '../cli/output.ts';
import type { Runs } from '../cli/program.ts';
import { stages } from '../stages/stages.ts';
import { toCostReport, toRequestReport } from './bills/costReport.ts';
import { toWorstMonth } from './bills/monthlyBill.ts';
import { readCommittedTraffic } from './bills/traffic.ts';
import { checkMonths } from './checkMonths.ts';
import { readTraffic, toPricedStage, withRegion } from './costOptions.ts';
import { toMonthText, toOperationsText, toWorstMonthText } from './costsText.ts';
import { readPrices } from './prices.ts';
import { runDiff } from './runDiff.ts';

type Own = 'requests' | 'month' | 'worst' | 'diff' | 'check' | 'prices';

export const runs: Runs<Pick<typeof commands.costs.subcommands, Own>> = {
  async requests(options) {
    const stage = withRegion(options.stage);
    const report = toRequestReport(stage, readCommittedTraffic(), options.entries);
    await writeResult(options, report, toOperationsText(report));
  },
  async month(options) {
    const traffic = readTraffic(options);
    const report = toCostReport(await toPricedStage(withRegion(options.stage)), traffic);
    // JSON leaves out what is undefined.
    await writeResult(options, { ...report, operations: undefined }, toMonthText(report));
  },
  async worst(options) {
    const stage = await toPricedStage(withRegion(options.stage));
    const worstMonth = toWorstMonth(stage, options.entries);
    const { region } = stage.settings;
    const pricesAsOf = readPrices(region).asOf;
    const report = { stage: stage.name, region, pricesAsOf, worstMonth };
    await writeResult(options, report, toWorstMonthText(worstMonth));
  },
  diff: (options, [revision = '']) => runDiff(revision, options),
  async check({ stage, json }) {
    const checked = stage === undefined ? Object.values(stages) : [stage];
    const found = checkMonths(await Promise.all(checked.map((one) => toPricedStage(one))));
    const failed = found.filter(({ isWithin }) => !isWithin);
    if (failed.length > 0 && !json) throw new Error(failed.map(({ text }) => text).join(' '));
    await writeResult({ json }, found, found.map(({ text }) => text).join('\n'));
    if (failed.length > 0) process.exitCode = 1;
  },
  // It loads an AWS client.
  prices: async (options) => (await import('./runPrices.ts')).runPrices(options),
};
