import type { commands } from '../../cli/commands.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { log, writeOut } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { priceUsualMillion } from '../usualCosts.ts';
import { renderPage, sumDollars, toDollars, toMonthName } from './page.ts';
import { readBill } from './readBill.ts';

type Options = OptionValues<(typeof commands.costs.subcommands)['report']>;

/** Writes a page about a month's bill, and says its sum on standard error. */
export async function runReport(options: Options, paths: readonly string[]) {
  const { stage, month } = options;
  const bill = await readBill(paths, stage, month);
  const region = `${bill.places[0]?.region ?? ''}`;
  const requests = Number(bill.requests[0]?.requests ?? 0);
  const priced = region === '' ? stage : { ...stage, settings: { ...stage.settings, region } };
  // A region without prices, for example.
  let missing = 'The bill has no requests of the stage.';
  const model =
    requests > 0
      ? await priceUsualMillion(priced, requests).catch((error: Error) => {
          missing = toErrorLine(error);
        })
      : undefined;
  await writeOut(renderPage(stage.name, bill, model ?? missing, region));
  const doubts = bill.doubts.length === 1 ? '1 doubt' : `${bill.doubts.length} doubts`;
  log(
    `${stage.name}, ${toMonthName(`${bill.this_month[0]?.month}`)}: ${toDollars(sumDollars(bill.paid))} paid, ${doubts}.`,
  );
}
