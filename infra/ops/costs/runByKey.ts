import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { tell, toColumns, writeOut } from '../../cli/output.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { addDollars, componentLabels, components, type Dollars } from '../../costs/bills/usage.ts';
import { defaultPrices, defaultRegion, type PriceTable, priceTables } from '../../costs/prices.ts';
import { toTags } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type ByKeyOptions, warnOfOldPrices } from './costOptions.ts';
import { DAY_MILLISECONDS, type DayRange, parseDayRange, splitByMonth, toDay } from './dayRange.ts';
import { type KeyCost, toKeyCosts } from './keyCosts.ts';
import { type LogVolume, MAX_ROWS, readLogRows, readLogVolume } from './logRows.ts';

/** An account may start only so many queries a second: throttling is waited out. */
const MAX_ATTEMPTS = 10;
/** Queries that cost more are asked for before they run. */
const MAX_DOLLARS_UNASKED = 1;

/**
 * Prints what each key's requests have cost. Ctrl-C stops the queries, and says nothing.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the stage is not there, or its logs cannot be asked
 */
export async function runByKey(options: ByKeyOptions): Promise<void> {
  const stage = parseStage(options.stage);
  const days = toKeptDays(stage, parseDayRange(options));
  await readStack(stage);
  using interruption = listenForInterruption();
  try {
    await printCosts(stage, days, options, interruption.signal);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    process.exitCode = interruption.status();
  }
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

async function printCosts(
  stage: Stage,
  days: DayRange,
  { json = false, yes = false }: ByKeyOptions,
  signal: AbortSignal,
): Promise<void> {
  const settings = { ...toRegion(stage), maxAttempts: MAX_ATTEMPTS };
  const logs = new CloudWatchLogsClient(settings);
  const metrics = new CloudWatchClient(settings);
  const region = await logs.config.region();
  const prices = findKnownPrices(region);
  const months: (readonly [month: DayRange, volume: LogVolume])[] = [];
  for (const month of splitByMonth(days)) {
    months.push([month, await readLogVolume(metrics, stage, month, signal)]);
  }
  const volumes = months.flatMap(([, volume]) => [...volume.values()]);
  const bytes = volumes.reduce((sum, one) => sum + one, 0);
  if (!(await isAgreed(bytes, prices, yes))) return;
  const costs: MonthCosts[] = [];
  for (const [month, volume] of months) {
    const rows = await readLogRows(logs, stage, month, signal);
    if (Object.values(rows).some(({ length }) => length >= MAX_ROWS)) {
      tell(
        `There are more than the ${MAX_ROWS.toLocaleString('en-US')} rows that a query answers with, and some requests are missing: ask for fewer days.`,
      );
    }
    const keys = toKeyCosts(rows, volume, stage, prices);
    const total = keys.reduce((sum, one) => sum + one.total, 0);
    costs.push({ from: toDay(month.from), to: toDay(month.end - 1), keys, total });
  }
  const report = {
    stage: stage.name,
    tags: toTags(stage),
    region,
    pricesAsOf: prices.asOf,
    months: costs,
    total: costs.reduce((sum, { total }) => sum + total, 0),
  };
  const title = `Dollars of ${stage.name} in ${region}, by the prices of ${prices.asOf}.`;
  const text = json ? JSON.stringify(report, null, 2) : `${title}\n\n${toTable(costs)}`;
  await writeOut(`${text}\n`);
}

function findKnownPrices(region: string): PriceTable {
  const prices = priceTables[region];
  if (!prices) tell(`The prices of ${region} are not known: these are those of ${defaultRegion}.`);
  warnOfOldPrices(prices ?? defaultPrices);
  return prices ?? defaultPrices;
}

/** Tells what the queries read and cost, and asks where that is much. */
async function isAgreed(bytes: number, prices: PriceTable, yes: boolean): Promise<boolean> {
  const gigabytes = bytes / 2 ** 30;
  const dollars = gigabytes * prices.logQueryPerGigabyte;
  tell(`The queries read ${gigabytes.toFixed(2)} GB of logs, which costs $${dollars.toFixed(2)}.`);
  if (yes || dollars <= MAX_DOLLARS_UNASKED || (await confirm('Go ahead?'))) return true;
  tell('Nothing was asked.');
  return false;
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
  const toRow = (names: string[], requests: number, dollars: Dollars, total: number) => [
    ...names,
    requests.toLocaleString('en-US'),
    ...[...components.map((one) => dollars[one]), total].map((one) => one.toFixed(4)),
  ];
  const labels = components.map((one) => componentLabels[one]);
  const head = ['month', 'key', 'operation', 'requests', ...labels, 'total'];
  const all = months.flatMap(({ keys }) => keys);
  const sum = (name: 'requests' | 'total') => all.reduce((total, one) => total + one[name], 0);
  return toColumns([
    head.map((heading) => heading.toUpperCase()),
    ...months.flatMap(({ from, keys }) =>
      keys.map(({ key, operation = '-', requests, dollars, total }) =>
        toRow([from.slice(0, 7), key, operation], requests, dollars, total),
      ),
    ),
    toRow(
      ['all', '', ''],
      sum('requests'),
      addDollars(all.map((one) => one.dollars)),
      sum('total'),
    ),
  ]);
}
