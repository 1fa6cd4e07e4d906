import type { commands } from '../cli/commands.ts';
import { writeOut, writeResult } from '../cli/output.ts';
import type { Runs } from '../cli/program.ts';
import { stages } from '../stages/stages.ts';
import { priceService } from './bills/costReport.ts';
import { checkMonths } from './checkMonths.ts';
import { compareWith } from './compareWith.ts';
import { readTraffic, withMetrics, withRegion } from './costOptions.ts';
import { renderCosts } from './costsText.ts';

export const runs: Runs<typeof commands.costs.subcommands> = {
  async table(options) {
    const traffic = readTraffic(options);
    const stage = await withMetrics(withRegion(options.stage));
    const costs = priceService(stage, traffic, options.entries);
    await writeResult(options, costs, renderCosts(costs));
  },
  async check({ stage, json }, [revision]) {
    const checked = await Promise.all(
      (stage ? [stage] : Object.values(stages)).map((one) => withMetrics(one)),
    );
    const compared = revision === undefined ? undefined : await compareWith(revision, checked);
    const checks = checkMonths(checked);
    const lines = checks.map(({ isWithin, text }) => (isWithin ? text : `FAILED: ${text}`));
    if (compared && !json) await writeOut(`${compared.text}\n\n`);
    await writeResult({ json }, { ...compared?.document, checks }, lines.join('\n'));
    if (checks.some(({ isWithin }) => !isWithin)) process.exitCode = 1;
  },
  // These load AWS clients and DuckDB.
  prices: async (options) => (await import('./runPrices.ts')).runPrices(options),
  report: async (options, words) =>
    (await import('./report/runReport.ts')).runReport(options, words),
};
