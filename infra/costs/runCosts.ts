import type { commands } from '../cli/commands.ts';
import { writeResult } from '../cli/output.ts';
import type { Runs } from '../cli/program.ts';
import { renderCosts } from './costsText.ts';
import { priceService } from './model.ts';
import { withPrices } from './resources.ts';
import { readTraffic } from './traffic.ts';

export const runs: Runs<typeof commands.costs.subcommands> = {
  async table(options) {
    const traffic = readTraffic(options);
    const stage = await withPrices(options.stage);
    const costs = priceService(stage, traffic, options.entries);
    await writeResult(options, costs, renderCosts(costs));
  },
  // This loads DuckDB.
  report: async (options, words) =>
    (await import('./report/runReport.ts')).runReport(options, words),
};
