import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { confirm } from '../../cli/confirm.ts';
import { tell, toColumns, writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { LOG_QUERY_PER_GIGABYTE, PRICES_AS_OF } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type CostOptions, warnOfPrices } from './costOptions.ts';
import { defineDollarColumns } from './costsText.ts';
import { DAY_MILLISECONDS, type DayRange, parseDayRange, splitByMonth, toDay } from './dayRange.ts';
import { type KeyCost, toKeyCosts } from './keyCosts.ts';
import { readLogRows, readLogVolume } from './logRows.ts';

/** Queries that cost more are asked for before they run. */
const MAX_DOLLARS_UNASKED = 1;

/**
 * Prints what each key's requests have cost.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the stage's logs cannot be asked
 */
export async function runByKey(options: CostOptions): Promise<void> {
  const stage = parseStage(options.stage ?? 'production');
  const days = toKeptDays(stage, parseDayRange(options));
  const { open } = await readStack(stage);
  const logs = open(CloudWatchLogsClient);
  const metrics = open(CloudWatchClient);
  const region = await logs.config.region();
  warnOfPrices(region);
  const months = await Promise.all(
    splitByMonth(days).map(async (month) => ({
      month,
      volume: await readLogVolume(metrics, stage, month),
    })),
  );
  const bytes = months.flatMap(({ volume }) => [...volume.values()]);
  const gigabytes = bytes.reduce((sum, one) => sum + one, 0) / 2 ** 30;
  if (!(await isAgreed(gigabytes, gigabytes * LOG_QUERY_PER_GIGABYTE, options.yes))) return;
  const costs: MonthCosts[] = [];
  for (const { month, volume } of months) {
    const keys = toKeyCosts(await readLogRows(logs, stage, month), volume, stage);
    const total = keys.reduce((sum, one) => sum + one.total, 0);
    costs.push({ from: toDay(month.from), to: toDay(month.end - 1), keys, total });
  }
  const total = costs.reduce((sum, month) => sum + month.total, 0);
  const { name } = stage;
  const priced = { stage: name, tags: toTags(stage), region, pricesAsOf: PRICES_AS_OF };
  const report = { ...priced, months: costs, total };
  const title = `Dollars of ${name} in ${region}, by the prices of ${PRICES_AS_OF}: ${total.toFixed(2)}`;
  const text = options.json ? JSON.stringify(report, null, 2) : `${title}\n\n${toTable(costs)}`;
  await writeOut(`${text}\n`);
}

/** @throws {UsageError} when nothing is left of those days */
function toKeptDays({ name, settings }: Stage, days: DayRange): DayRange {
  const kept = settings.logRetentionDays;
  const now = Date.now();
  const first = now - (now % DAY_MILLISECONDS) - (kept - 1) * DAY_MILLISECONDS;
  if (days.from >= first) return days;
  const line = `The logs of ${name} are kept for ${kept} days: what was before ${toDay(first)} is gone.`;
  if (days.end <= first) throw new UsageError(line);
  tell(line);
  return { ...days, from: first };
}

/** Tells what the queries read and cost, and asks where that is much. */
async function isAgreed(gigabytes: number, dollars: number, yes = false): Promise<boolean> {
  tell(`The queries read ${gigabytes.toFixed(2)} GB of logs, which costs $${dollars.toFixed(2)}.`);
  return yes || dollars <= MAX_DOLLARS_UNASKED || confirm('Go ahead?');
}

/** What the requests of one calendar month, or of some days of it, have cost. */
interface MonthCosts {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly KeyCost[];
  readonly total: number;
}

/** The costs for people. */
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
