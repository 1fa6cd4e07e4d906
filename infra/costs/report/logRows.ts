import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { confirm } from '../../cli/confirm.ts';
import { type QueryRow, runQuery } from '../../cli/logsInsights.ts';
import { readSums } from '../../cli/metricSums.ts';
import { log } from '../../cli/output.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { checkAgent, toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { FREE_STREAMED_BYTES, GIGABYTE, sumOf } from '../bills/usage.ts';
import {
  type CostOptions,
  DAY_MILLISECONDS,
  type DayRange,
  findToday,
  toDay,
  withRegion,
} from '../costOptions.ts';
import { readPrices, toUnitDollars } from '../prices.ts';
import { BYTES_OF_A_REQUEST } from '../units/responseUnits.ts';

/** Queries that cost more need the user's consent. */
const MAX_DOLLARS_UNASKED = 1;

/**
 * Opens the logs of a stage for some days of a month, once the user accepts the cost of the queries.
 * @returns `undefined` if the user does not
 */
export async function openLogs({ stage: named, yes }: CostOptions<'report'>, asked: DayRange) {
  const { open } = await readStack(named);
  const days = findKeptDays(named, asked);
  const metrics = open(CloudWatchClient);
  const stage = withRegion(named, await metrics.config.region());
  const { functionLogs, accessLog } = toNames(stage);
  const bytesOf = [...functionLogs, accessLog].map((label) => ({
    label,
    Namespace: 'AWS/Logs',
    MetricName: 'IncomingBytes',
    Dimensions: [{ Name: 'LogGroupName', Value: label }],
  }));
  const daily = await readSums(metrics, bytesOf, days, DAY_MILLISECONDS / 1000);
  const volume: LogVolume = new Map(
    Array.from(daily, ([name, bytes]) => [name, sumOf(bytes, (one) => one)]),
  );
  const gigabytes = sumOf([...volume.values()], (bytes) => bytes) / GIGABYTE;
  const { queriedGigabytes } = readPrices(stage.settings.region).prices;
  const dollars = gigabytes * toUnitDollars(queriedGigabytes, gigabytes);
  log(`The queries read ${gigabytes.toFixed(2)} GB of logs, which costs $${dollars.toFixed(2)}.`);
  const isAgreed = yes || dollars <= MAX_DOLLARS_UNASKED || (await confirm('Go ahead?'));
  if (!isAgreed) return undefined;
  const client = open(CloudWatchLogsClient);
  const [functions, access] = await Promise.all([
    runQuery(client, functionLogs, days, functionQuery),
    runQuery(client, [accessLog], days, accessQuery),
  ]);
  const rows: LogRows = { functions, access };
  return { stage, days, volume, rows, dailyBytes: daily.get(accessLog) ?? [] };
}

/** @throws {UsageError} when nothing is left of those days */
function findKeptDays({ name, settings }: Stage, days: DayRange): DayRange {
  const kept = settings.logRetentionDays;
  const first = findToday() - (kept - 1) * DAY_MILLISECONDS;
  if (days.from >= first) return days;
  const line = `The logs of ${name} are kept for ${kept} days: lines before ${toDay(first)} are deleted.`;
  if (days.end <= first) throw new UsageError(line);
  log(line);
  return { ...days, from: first };
}

/** The bytes that each log received in some days. AWS bills its lines, and queries that read them, by these. */
export type LogVolume = ReadonlyMap<string, number>;

export interface LogRows {
  /** Sums of the functions' own lines by operation, status and key, and of Lambda's reports. */
  readonly functions: readonly QueryRow[];
  /** Sums of the gateway's lines by route and status. */
  readonly access: readonly QueryRow[];
}

/** One query for requests and reports, since each query is billed for everything that it reads. */
const functionQuery = [
  'filter ispresent(message.operation) or type = "platform.report"',
  'fields record.metrics.billedDurationMs * record.metrics.memorySizeMB as megabyteMilliseconds, strcontains(record.tracing.value, "Sampled=1") as isTraced',
  'stats count(*) as lines, sum(message.milliseconds) as milliseconds, sum(message.readUnits) as readUnits, sum(message.writeUnits) as writeUnits, sum(megabyteMilliseconds) as billed, sum(isTraced) as traced by @log, type, message.operation as operation, message.status as status, message.keyName as keyName',
  // Past the limit, the rows with the fewest lines are missing.
  'sort lines desc',
];

/**
 * Numbers are text in the gateway's lines, but `bytes` of release 1.2.0 is a number: Insights calculates with both.
 * `sent` counts bodies alone.
 */
const accessQuery = [
  'filter ispresent(route)',
  `fields strcontains(userAgent, "${checkAgent}") as isCheck, greatest(bytes - ${FREE_STREAMED_BYTES}, 0) as streamed, floor((greatest(bytes, 1) - 1) / ${BYTES_OF_A_REQUEST}) as further`,
  'stats count(*) as lines, sum(bytes) as sent, sum(further) as furtherRequests, sum(streamed) as streamedBytes, sum(functionLatency) as milliseconds by @log, route, method, status, functionStatus, isCheck',
];
