import type { commands } from '../cli/commands.ts';
import { toErrorLine } from '../cli/errorLine.ts';
import { log, toCount, writeOut, writeResult } from '../cli/output.ts';
import type { Runs } from '../cli/program.ts';
import type { Stage } from '../stages/stages.ts';
import { renderCosts } from './costsText.ts';
import { priceMonth, priceService } from './model.ts';
import { renderPage, sumDollars, toDollars } from './report/page.ts';
import { withPrices } from './resources.ts';
import { readTraffic } from './traffic.ts';

export const runs: Runs<typeof commands.costs.subcommands> = {
  async table(options) {
    const traffic = readTraffic(options);
    const stage = await withPrices(options.stage);
    const costs = priceService(stage, traffic, options.entries);
    await writeResult(options, costs, renderCosts(costs));
  },
  /** Writes a page about a month's bill, and says its sum on standard error. */
  async report({ stage, month }, paths) {
    // This loads DuckDB.
    const { readBill } = await import('./report/readBill.ts');
    const bill = await readBill(paths, stage, month);
    const region = `${bill.places[0]?.region ?? ''}`;
    const priced = region === '' ? stage : { ...stage, settings: { ...stage.settings, region } };
    // A region without prices, for example.
    const model = await priceMillion(priced, Number(bill.requests.requests)).catch(toErrorLine);
    await writeOut(renderPage(stage.name, bill, model, region));
    const doubts = toCount(bill.doubts.length, 'doubt');
    log(`${stage.name}, ${bill.months.name}: ${toDollars(sumDollars(bill.paid))} paid, ${doubts}.`);
  },
};

/** What a million requests cost by the model, with their share of the month's fixed part, in the mix of `traffic.json`. */
async function priceMillion(stage: Stage, count: number): Promise<number> {
  const requests = Math.round(count);
  if (requests <= 0) throw new Error('The bill has no requests of the stage.');
  const { total } = priceMonth(await withPrices(stage), readTraffic({ requests: `${requests}` }));
  return (1e6 * total) / requests;
}
