import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { mapOperations } from '../../../shared/contract/operations.ts';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { toRegion } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { writeOut } from '../../cli/writeOut.ts';
import { toAccessLogName, toFunctionLogName, toTags } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { warnOfOldPrices } from '../prices/oldPrices.ts';
import type { PriceTable } from '../prices/priceTable.ts';
import { defaultPrices, defaultRegion, priceTables } from '../prices/priceTables.ts';
import { type ByKeyOptions, type ByKeySearch, parseByKey } from './byKeyOptions.ts';
import { DAY_MILLISECONDS, type DayRange, splitByMonth, toDay } from './dayRange.ts';
import { toKeyCosts } from './keyCosts.ts';
import { type LogVolume, readLogVolume, sumBytes } from './logBytes.ts';
import { readLogTotals, toFunctionLogNames } from './logTotals.ts';
import type { MonthCosts } from './monthCosts.ts';
import { MOST_ROWS } from './runQuery.ts';
import { toReportJson, toReportTable } from './toReportText.ts';

/** An account may start only so many queries a second: throttling is waited out. */
const MOST_ATTEMPTS = 10;
/** Queries that cost more are asked for before they run. */
const MOST_DOLLARS_UNASKED = 1;

/**
 * Prints what each key's requests have cost. Ctrl-C stops the queries, and says nothing.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when the stage is not there, or its logs cannot be asked
 */
export async function runByKey(options: ByKeyOptions): Promise<void> {
  const search = parseByKey(options);
  const days = toKeptDays(search);
  await readStack(search.stage);
  using interruption = listenForInterruption();
  try {
    await printCosts(search, days, interruption.signal);
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    process.exitCode = interruption.status();
  }
}

async function printCosts(
  { stage, json, yes }: ByKeySearch,
  days: DayRange,
  signal: AbortSignal,
): Promise<void> {
  const settings = { ...toRegion(stage), maxAttempts: MOST_ATTEMPTS };
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
  const report = { stage: stage.name, tags: toTags(stage), region, pricesAsOf: prices.asOf };
  const text = json ? toReportJson : toReportTable;
  await writeOut(text({ ...report, months: costs }));
}

/** @throws {UsageError} when nothing is left of those days */
function toKeptDays({ days, stage: { name, settings } }: ByKeySearch): DayRange {
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
  warnOfOldPrices(prices ?? defaultPrices, new Date());
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
  if (yes || dollars <= MOST_DOLLARS_UNASKED) return true;
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
      `There are more than the ${MOST_ROWS.toLocaleString('en-US')} rows that a query answers with, and some requests are missing: ask for fewer days.`,
    );
  }
  const toBytes = (name: string) => volume.get(name) ?? 0;
  const bytes = {
    functions: mapOperations((id) => toBytes(toFunctionLogName(stage, id))),
    gateway: toBytes(toAccessLogName(stage)),
  };
  const pricing = { prices, hasFirewall: stage.settings.firewall };
  return { days, keys: toKeyCosts(totals, bytes, pricing) };
}

/** Beside the output, which a machine may read. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
