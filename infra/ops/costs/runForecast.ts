import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { toCents } from '../../costs/bills/usage.ts';
import { readAccepted, toIncrease } from './checkMonths.ts';
import type { CostOptions } from './costOptions.ts';
import { toMonth, toToday } from './dayRange.ts';
import { readMonths } from './runByKey.ts';

/**
 * Prints what this month has cost until yesterday by the stage's logs, and what it will cost at this rate. On the first
 * of a month, that is the whole month before. Status 1 if it will cost more than accepted, past the stage's limits.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the stage's logs cannot be asked
 */
export async function runForecast(
  options: CostOptions<'forecast'>,
  allAccepted = readAccepted(),
): Promise<void> {
  const stage = parseStage(options.stage);
  const end = toToday();
  const report = await readMonths(options, { from: toMonth(end - 1).from, end });
  const [month] = report?.months ?? [];
  if (!report || !month) return;
  const { stage: name, region, pricesAsOf } = report;
  const { from, to, share } = month;
  const keys = month.totals.map(({ key, ...own }) => ({ key, ...toFigures(own, share) }));
  const sales = keys.reduce((sum, one) => sum + one.sales, 0);
  const all = toFigures({ sales, total: month.total + month.fixed }, share);
  const accepted = allAccepted[name];
  const budget = stage.settings.budget?.monthlyDollars;
  const { isWithin, limits } = toIncrease(stage, all.forecast, accepted ?? 0);
  if (accepted === undefined || !isWithin) process.exitCode = 1;
  if (options.json) {
    const own = { stage: name, region, pricesAsOf, from, to, ...all, accepted, budget };
    const document = { ...own, ...(options['by-key'] && { keys }) };
    return writeOut(`${JSON.stringify(document, null, 2)}\n`);
  }
  const past = isWithin || accepted === undefined ? '' : `, past its ${limits}`;
  const beside = `accepted ${toText(accepted)}, budget ${toText(budget)}`;
  const line = `${name} from ${from} to ${to}: ${toText(all.soFar)} so far, ${toText(all.forecast)} a month at this rate${past}; ${beside}; ${toSalesText(all)} per thousand sales.`;
  const table = toColumns([
    ['key', 'so far', 'a month at this rate', 'sales', 'per thousand sales'],
    ...keys.map((one) => [
      ...[one.key, toText(one.soFar), toText(one.forecast)],
      ...[one.sales.toLocaleString('en-US'), toSalesText(one)],
    ]),
  ]);
  await writeOut(`${options['by-key'] ? `${line}\n\n${table}` : line}\n`);
}

function toFigures({ sales, total }: { sales: number; total: number }, share: number) {
  const perThousandSales = sales > 0 ? (1_000 * total) / sales : undefined;
  return { soFar: total, forecast: total / share, sales, perThousandSales };
}

function toSalesText({ perThousandSales }: { perThousandSales: number | undefined }): string {
  return perThousandSales === undefined ? 'none' : `$${perThousandSales.toFixed(4)}`;
}

/** Such as `$3.00`. */
function toText(dollars: number | undefined): string {
  return dollars === undefined ? 'none' : `$${toCents(dollars)}`;
}
