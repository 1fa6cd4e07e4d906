import { writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { readAccepted, toIncrease } from './checkMonths.ts';
import type { CostOptions } from './costOptions.ts';
import { toMonth, toToday } from './dayRange.ts';
import { toSalesCost } from './keyCosts.ts';
import { readMonths, toTotalsTable } from './runByKey.ts';

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
  const { from, to, share, totals } = month;
  const sales = totals.reduce((sum, one) => sum + one.sales, 0);
  const all = toSalesCost(report.total + report.fixed, sales, share);
  const accepted = allAccepted[name];
  const budget = stage.settings.budget?.monthlyDollars;
  const { isWithin, limits } = toIncrease(stage, all.perMonth, accepted ?? 0);
  if (accepted === undefined || !isWithin) process.exitCode = 1;
  if (options.json) {
    const own = { stage: name, region, pricesAsOf, from, to, sales, ...all, accepted, budget };
    const document = { ...own, ...(options['by-key'] && { totals }) };
    return writeOut(`${JSON.stringify(document, null, 2)}\n`);
  }
  const past = isWithin || accepted === undefined ? '' : `, past its ${limits}`;
  const beside = `accepted ${toText(accepted)}, budget ${toText(budget)}`;
  const line = `${name} from ${from} to ${to}: ${toText(all.total)} so far, ${toText(all.perMonth)} a month at this rate${past}; ${beside}; ${toText(all.perThousandSales, 4)} per thousand sales.`;
  await writeOut(`${options['by-key'] ? `${line}\n\n${toTotalsTable([month])}` : line}\n`);
}

/** Such as `$3.00`. */
function toText(dollars: number | undefined, digits = 2): string {
  return dollars === undefined ? 'none' : `$${dollars.toFixed(digits)}`;
}
