import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { mapOperations } from '../../../shared/contract/operations.ts';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { toColumns, writeOut } from '../../cli/output.ts';
import { parseStage, toRegion } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { addDollars, componentLabels, components, type Dollars } from '../../costs/bills/usage.ts';
import type { PriceTable } from '../../costs/prices/priceTable.ts';
import { defaultPrices, defaultRegion, priceTables } from '../../costs/prices/priceTables.ts';
import { toAccessLogName, toFunctionLogName, toTags } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type ByKeyOptions, warnOfOldPrices } from './costOptions.ts';
import { DAY_MILLISECONDS, type DayRange, parseDayRange, splitByMonth, toDay } from './dayRange.ts';
import { type KeyCost, toKeyCosts } from './keyCosts.ts';
import {
  type LogVolume,
  MAX_ROWS,
  readLogTotals,
  readLogVolume,
  sumBytes,
  toFunctionLogNames,
} from './logTotals.ts';

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

async function printCosts(
  stage: Stage,
  days: DayRange,
  { json = false, yes = false }: ByKeyOptions,
  signal: AbortSignal,
): Promise<void> {
  const settings = { ...toRegion(stage), maxAttempts: MAX_ATTEMPTS };
  const logs = new CloudWatchLogsClient(settings);
  const region = await logs.config.region();
  const prices = toPrices(region);
  const months = splitByMonth(days);
  const volumes = await readVolumes(new CloudWatchClient(settings), stage, months, signal);
  if (!(await isAgreed(sumBytes(volumes), prices, yes))) return;
  const costs: MonthCosts[] = [];
  for (const [index, month] of months.entries()) {
    const volume = volumes[index] ?? new Map();
    costs.push(await readMonth(logs, stage, month, volume, prices, signal));
  }
  const report = {
    stage: stage.name,
    tags: toTags(stage),
    region,
    pricesAsOf: prices.asOf,
    months: costs,
    total: costs.reduce((sum, { total }) => sum + total, 0),
  };
  await writeOut(json ? `${JSON.stringify(report, null, 2)}\n` : toTableText(report));
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

function toPrices(region: string): PriceTable {
  const prices = priceTables[region];
  if (!prices) tell(`The prices of ${region} are not known: these are those of ${defaultRegion}.`);
  warnOfOldPrices(prices ?? defaultPrices);
  return prices ?? defaultPrices;
}

async function readVolumes(
  client: CloudWatchClient,
  stage: Stage,
  months: readonly DayRange[],
  signal: AbortSignal,
): Promise<LogVolume[]> {
  const names = [...toFunctionLogNames(stage), toAccessLogName(stage)];
  const volumes: LogVolume[] = [];
  for (const month of months) volumes.push(await readLogVolume(client, names, month, signal));
  return volumes;
}

/** Tells what the queries read and cost, and asks where that is much. */
async function isAgreed(bytes: number, prices: PriceTable, yes: boolean): Promise<boolean> {
  const gigabytes = bytes / 2 ** 30;
  const dollars = gigabytes * prices.logQueryPerGigabyte;
  const text = `The queries read ${gigabytes.toFixed(2)} GB of logs, which costs $${dollars.toFixed(2)}.`;
  tell(text);
  if (yes || dollars <= MAX_DOLLARS_UNASKED) return true;
  if (await confirm('Go ahead?')) return true;
  tell('Nothing was asked.');
  return false;
}

async function readMonth(
  client: CloudWatchLogsClient,
  stage: Stage,
  days: DayRange,
  volume: LogVolume,
  prices: PriceTable,
  signal: AbortSignal,
): Promise<MonthCosts> {
  const totals = await readLogTotals(client, stage, days, signal);
  if (totals.isCut) {
    tell(
      `There are more than the ${MAX_ROWS.toLocaleString('en-US')} rows that a query answers with, and some requests are missing: ask for fewer days.`,
    );
  }
  const toBytes = (name: string) => volume.get(name) ?? 0;
  const bytes = {
    functions: mapOperations((id) => toBytes(toFunctionLogName(stage, id))),
    gateway: toBytes(toAccessLogName(stage)),
  };
  const pricing = { prices, hasFirewall: stage.settings.firewall };
  const keys = toKeyCosts(totals, bytes, pricing);
  const total = keys.reduce((sum, one) => sum + one.total, 0);
  return { from: toDay(days.from), to: toDay(days.end - 1), keys, total };
}

/** Beside the output, which a machine may read. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** What the requests of one calendar month, or of some days of it, have cost. */
interface MonthCosts {
  readonly from: string;
  readonly to: string;
  readonly keys: readonly KeyCost[];
  readonly total: number;
}

/** What the costs of some days were reckoned by, as `--json` has it. */
interface CostReport {
  readonly stage: string;
  /** Those that all of the stage has. */
  readonly tags: Readonly<Record<string, string>>;
  readonly region: string;
  /** The day that the prices were looked up. */
  readonly pricesAsOf: string;
  readonly months: readonly MonthCosts[];
  readonly total: number;
}

/** The costs for people. */
function toTableText({ stage, region, pricesAsOf, months, total }: CostReport): string {
  const toRow = (
    month: string,
    requests: number,
    dollars: Dollars,
    sum: number,
    name: string[],
  ) => [
    month,
    ...name,
    requests.toLocaleString('en-US'),
    ...[...components.map((one) => dollars[one]), sum].map((one) => one.toFixed(4)),
  ];
  const all = months.flatMap(({ keys }) => keys);
  const requests = all.reduce((sum, one) => sum + one.requests, 0);
  const rows = [
    [
      'month',
      'key',
      'operation',
      'requests',
      ...components.map((one) => componentLabels[one]),
      'total',
    ].map((heading) => heading.toUpperCase()),
    ...months.flatMap(({ from, keys }) =>
      keys.map(({ key, operation = '-', requests, dollars, total }) =>
        toRow(from.slice(0, 7), requests, dollars, total, [key, operation]),
      ),
    ),
    toRow('all', requests, addDollars(all.map(({ dollars }) => dollars)), total, ['', '']),
  ];
  return `Dollars of ${stage} in ${region}, by the prices of ${pricesAsOf}.\n\n${toColumns(rows)}\n`;
}
