import { toColumns, writeOut } from '../../cli/output.ts';
import { toStageMonth } from '../../costs/bills/costReport.ts';
import { readCommittedTraffic } from '../../costs/bills/traffic.ts';
import { readPrices } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import type { CostOptions } from './costOptions.ts';
import { defineDollarColumns } from './costsText.ts';
import { type DayRange, parseDayRange, toDay } from './dayRange.ts';
import { type KeyCost, toKeyCosts, toKeyTotals } from './keyCosts.ts';
import { openLogs, readLogRows } from './logRows.ts';

/**
 * Prints the cost of each key's requests, and its share of the fixed costs.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the stage's logs cannot be asked
 */
export async function runByKey(options: CostOptions<'by-key'>): Promise<void> {
  const report = await readMonths(options, parseDayRange(options));
  if (!report) return;
  const { stage: name, region, pricesAsOf, months, total, fixed } = report;
  const title = `Dollars of ${name} in ${region}, by the prices of ${pricesAsOf}: ${total.toFixed(2)} of requests, ${fixed.toFixed(2)} fixed`;
  const tables = `${title}\n\n${toTable(months)}\n\n${toTotalsTable(months)}`;
  await writeOut(`${options.json ? JSON.stringify(report, null, 2) : tables}\n`);
}

/**
 * The costs by key in each month, or `undefined` if the user does not accept the cost of the queries.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the stage's logs cannot be asked
 */
export async function readMonths(options: CostOptions<'forecast'>, days: DayRange) {
  const logs = await openLogs(options, days);
  if (!logs) return;
  const { stage, client } = logs;
  const { region } = stage.settings;
  const { fixed: fixedOfMonth } = toStageMonth(stage, readCommittedTraffic());
  const months: MonthCosts[] = [];
  for (const month of logs.months) {
    const rows = await readLogRows(client, stage, month);
    const keys = toKeyCosts(rows, month.volume, stage);
    months.push(toMonthCosts(month, keys, fixedOfMonth));
  }
  const total = months.reduce((sum, month) => sum + month.total, 0);
  const fixed = months.reduce((sum, month) => sum + month.fixed, 0);
  const { asOf: pricesAsOf } = readPrices(region);
  return { stage: stage.name, tags: toTags(stage), region, pricesAsOf, months, total, fixed };
}

type MonthCosts = ReturnType<typeof toMonthCosts>;

/** The cost of the requests in one calendar month, or some days of it, and the fixed costs of that time. */
function toMonthCosts(
  { from, end, share }: DayRange & { readonly share: number },
  keys: readonly KeyCost[],
  fixedOfMonth: number,
) {
  const fixed = fixedOfMonth * share;
  const total = keys.reduce((sum, one) => sum + one.total, 0);
  const days = { from: toDay(from), to: toDay(end - 1) };
  return { ...days, share, keys, totals: toKeyTotals(keys, fixed, share), total, fixed };
}

function toTable(months: readonly MonthCosts[]): string {
  const all = months.flatMap(({ keys }) => keys.map(({ dollars }) => dollars));
  const { head, toCells } = defineDollarColumns(all, (dollars) => dollars.toFixed(4));
  return toColumns([
    ['month', 'key', 'operation', 'requests', ...head],
    ...months.flatMap(({ from, keys }) =>
      keys.map(({ key, operation = '-', requests, dollars }) => [
        ...[from.slice(0, 7), key, operation, requests.toLocaleString('en-US')],
        ...toCells(dollars),
      ]),
    ),
  ]);
}

export function toTotalsTable(months: readonly MonthCosts[]): string {
  return toColumns([
    ['month', 'key', 'requests', 'of requests', 'of what is fixed', 'total', ...rates],
    ...months.flatMap(({ from, totals }) =>
      totals.map(({ key, requests, dollars, fixed, total, perMonth, perThousandSales }) => [
        ...[from.slice(0, 7), key, requests.toLocaleString('en-US')],
        ...[dollars, fixed, total, perMonth, perThousandSales].map((sum) => sum?.toFixed(4) ?? '-'),
      ]),
    ),
  ]);
}

const rates = ['a month at this rate', 'per thousand sales'];
