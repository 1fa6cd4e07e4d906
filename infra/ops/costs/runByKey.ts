import { toColumns, writeResult } from '../../cli/output.ts';
import { toStageMonth } from '../../costs/bills/costReport.ts';
import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { sumOf } from '../../costs/bills/usage.ts';
import { readAccepted, toIncrease } from '../../costs/checkMonths.ts';
import {
  type CostOptions,
  type DayRange,
  parseDayRange,
  toDay,
  toMonth,
  toPricedStage,
  toToday,
} from '../../costs/costOptions.ts';
import { defineDollarColumns } from '../../costs/costsText.ts';
import { readPrices } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import { findBudget } from '../../stages/stageSettings.ts';
import { toKeyCosts, toKeyTotals, toSalesCost } from './keyCosts.ts';
import { openLogs, readLogRows } from './logRows.ts';

/** Prints the cost of each key's requests, and its share of the fixed costs. */
export async function runByKey(options: CostOptions<'by-key'>): Promise<void> {
  const report = await readMonths(options, parseDayRange(options));
  if (!report) return;
  const { stage: name, region, pricesAsOf, months, total, fixed } = report;
  const title = `Dollars of ${name} in ${region}, by the prices of ${pricesAsOf}: ${total.toFixed(2)} of requests, ${fixed.toFixed(2)} fixed`;
  const tables = `${title}\n\n${toTable(months)}\n\n${toTotalsTable(months)}`;
  await writeResult(options, report, tables);
}

/**
 * Prints what this month has cost until yesterday by the stage's logs, and what it will cost at this rate. On the first
 * of a month, that is the month before. Status 1 if no month was accepted, or if this one will exceed it past the limits.
 */
export async function runForecast(options: CostOptions<'forecast'>, allAccepted = readAccepted()) {
  const { stage } = options;
  const end = toToday();
  const report = await readMonths(options, { from: toMonth(end - 1).from, end });
  const [month] = report?.months ?? [];
  if (!report || !month) return;
  const { stage: name, region, pricesAsOf } = report;
  const { from, to, share, totals } = month;
  const sales = sumOf(totals, (one) => one.sales);
  const all = toSalesCost(report.total + report.fixed, sales, share);
  const accepted = allAccepted[name];
  const budget = findBudget(stage.settings)?.monthlyDollars;
  const { isWithin, limits } = toIncrease(stage, all.perMonth, accepted ?? 0);
  if (accepted === undefined || !isWithin) process.exitCode = 1;
  const own = { stage: name, region, pricesAsOf, from, to, sales, ...all, accepted, budget };
  const document = { ...own, ...(options['by-key'] && { totals }) };
  const past = isWithin || accepted === undefined ? '' : `, past its ${limits}`;
  const beside = `accepted ${toText(accepted)}, budget ${toText(budget)}`;
  const line = `${name} from ${from} to ${to}: ${toText(all.total)} so far, ${toText(all.perMonth)} a month at this rate${past}; ${beside}; ${toText(all.perThousandSales, 4)} per thousand sales.`;
  const text = options['by-key'] ? `${line}\n\n${toTotalsTable([month])}` : line;
  await writeResult(options, document, text);
}

/** The costs by key in each month, or `undefined` if the user does not accept the cost of the queries. */
async function readMonths(options: CostOptions<'forecast'>, days: DayRange) {
  const logs = await openLogs(options, days);
  if (!logs) return;
  const { stage, client } = logs;
  const { region } = stage.settings;
  const { fixed: fixedOfMonth } = toStageMonth(await toPricedStage(stage), readCommittedTraffic());
  const months = [];
  for (const month of logs.months) {
    const { from, end, share, volume } = month;
    const keys = toKeyCosts(await readLogRows(client, stage, month), volume, stage);
    const fixed = fixedOfMonth * share;
    const total = sumOf(keys, (one) => one.total);
    const days = { from: toDay(from), to: toDay(end - 1) };
    months.push({ ...days, share, keys, totals: toKeyTotals(keys, fixed, share), total, fixed });
  }
  const total = sumOf(months, (month) => month.total);
  const fixed = sumOf(months, (month) => month.fixed);
  const { asOf: pricesAsOf } = readPrices(region);
  return { stage: stage.name, tags: toTags(stage), region, pricesAsOf, months, total, fixed };
}

type KeyReport = NonNullable<Awaited<ReturnType<typeof readMonths>>>;

function toTable(months: KeyReport['months']): string {
  const all = months.flatMap(({ keys }) => keys.map(({ dollars }) => dollars));
  const { head, toCells } = defineDollarColumns(all, (dollars) => dollars.toFixed(4));
  const rows = months.flatMap(({ from, keys }) =>
    keys.map(({ key, operation = '-', requests, dollars }) => [
      ...[from.slice(0, 7), key, operation, requests.toLocaleString('en-US')],
      ...toCells(dollars),
    ]),
  );
  return toColumns([['month', 'key', 'operation', 'requests', ...head], ...rows]);
}

function toTotalsTable(months: KeyReport['months']): string {
  return toColumns([
    [
      ...['month', 'key', 'requests', 'of requests', 'of what is fixed', 'total'],
      ...['a month at this rate', 'per thousand sales'],
    ],
    ...months.flatMap(({ from, totals }) =>
      totals.map(({ key, requests, dollars, fixed, total, perMonth, perThousandSales }) => [
        ...[from.slice(0, 7), key, requests.toLocaleString('en-US')],
        ...[dollars, fixed, total, perMonth, perThousandSales].map((sum) => sum?.toFixed(4) ?? '-'),
      ]),
    ),
  ]);
}

/** Such as `$3.00`. */
function toText(dollars: number | undefined, digits = 2): string {
  return dollars === undefined ? 'none' : `$${dollars.toFixed(digits)}`;
}
