import { setTimeout } from 'node:timers/promises';
import { type CloudWatchClient, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { operationIds } from '../../../shared/contract/operations.ts';
import { FREE_STREAMED_BYTES } from '../../costs/bills/usage.ts';
import { BYTES_OF_A_REQUEST } from '../../costs/units/answerUnits.ts';
import { toAccessLogName, toFunctionLogName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { DAY_MILLISECONDS, type DayRange } from './dayRange.ts';

/** The bytes that came into each log in some days: what its lines are billed by, and a query that reads them. */
export type LogVolume = ReadonlyMap<string, number>;

/** @returns the bytes by name of the log; 0 where CloudWatch knows of none */
export async function readLogVolume(
  client: CloudWatchClient,
  stage: Stage,
  { from, end }: DayRange,
  abortSignal: AbortSignal,
): Promise<LogVolume> {
  const names = [...toFunctionLogNames(stage), toAccessLogName(stage)];
  const volume = new Map(names.map((name) => [name, 0]));
  const input = {
    StartTime: new Date(from),
    EndTime: new Date(end),
    MetricDataQueries: names.map((name, index) => ({
      Id: `log${index}`,
      Label: name,
      MetricStat: {
        Metric: {
          Namespace: 'AWS/Logs',
          MetricName: 'IncomingBytes',
          Dimensions: [{ Name: 'LogGroupName', Value: name }],
        },
        Period: DAY_MILLISECONDS / 1000,
        Stat: 'Sum',
      },
    })),
  };
  for await (const page of paginateGetMetricData({ client }, input, { abortSignal })) {
    for (const { Label = '', Values = [] } of page.MetricDataResults ?? []) {
      const sum = Values.reduce((total, value) => total + value, 0);
      volume.set(Label, (volume.get(Label) ?? 0) + sum);
    }
  }
  return volume;
}

function toFunctionLogNames(stage: Stage): string[] {
  return operationIds.map((id) => toFunctionLogName(stage, id));
}

/** The fields of a row that there is something in. */
export type QueryRow = Readonly<Record<string, string>>;

/** What the logs of some days hold. */
export interface LogRows {
  /** Sums of the functions' own lines by operation, status and key, and of Lambda's reports. */
  readonly functions: readonly QueryRow[];
  /** Sums of the gateway's lines by route and status. */
  readonly access: readonly QueryRow[];
}

const summed = ['milliseconds', 'readUnits', 'keyReadUnits', 'writeUnits', 'failedWrites'];

/** Requests and reports by one query, since each is billed for all that it reads. */
const functionQuery = [
  'filter ispresent(message.operation) or type = "platform.report"',
  'fields record.metrics.billedDurationMs * record.metrics.memorySizeMB as megabyteMilliseconds, strcontains(record.tracing.value, "Sampled=1") as isTraced',
  `stats count(*) as lines, ${summed.map((name) => `sum(message.${name}) as ${name}`).join(', ')}, sum(megabyteMilliseconds) as billed, sum(isTraced) as traced by @log, type, message.operation as operation, message.status as status, message.keyName as keyName`,
];

/** Numbers may be text in the gateway's lines; Insights reckons with both. `sent` is of the bodies alone. */
const accessQuery = [
  'filter ispresent(route)',
  `fields greatest(bytes - ${FREE_STREAMED_BYTES}, 0) as streamed, floor((greatest(bytes, 1) - 1) / ${BYTES_OF_A_REQUEST}) as further`,
  'stats count(*) as lines, sum(bytes) as sent, sum(further) as furtherRequests, sum(streamed) as streamedBytes, sum(functionLatency) as milliseconds by @log, route, method, status, functionStatus',
];

/** @throws {Error} when the logs cannot be asked */
export async function readLogRows(
  client: CloudWatchLogsClient,
  stage: Stage,
  days: DayRange,
  signal: AbortSignal,
): Promise<LogRows> {
  const ask = (names: string[], lines: readonly string[]) =>
    runQuery(client, names, days, lines, signal);
  const [functions, access] = await Promise.all([
    ask(toFunctionLogNames(stage), functionQuery),
    ask([toAccessLogName(stage)], accessQuery),
  ]);
  return { functions, access };
}

/** So many rows a query answers with at most: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html */
export const MAX_ROWS = 10_000;
/** It is asked after less at first, and then each time after twice as long. */
const FIRST_WAIT_MILLISECONDS = 100;
const MAX_WAIT_MILLISECONDS = 1_600;

/**
 * Runs a query to its end; on the signal it is stopped, so that it is billed for no more than it has read.
 * @throws {Error} when it fails, or a log is not there
 */
async function runQuery(
  client: CloudWatchLogsClient,
  logGroupNames: string[],
  days: DayRange,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<QueryRow[]> {
  signal.throwIfAborted();
  const queryId = await startQuery(client, logGroupNames, days, lines);
  try {
    for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(2 * wait, MAX_WAIT_MILLISECONDS)) {
      await setTimeout(wait, undefined, { signal });
      const command = new GetQueryResultsCommand({ queryId });
      const { status, results = [] } = await client.send(command, { abortSignal: signal });
      if (status === 'Complete') {
        return results.map((fields) =>
          Object.fromEntries(fields.map(({ field = '', value = '' }) => [field, value])),
        );
      }
      if (status !== 'Running' && status !== 'Scheduled') {
        throw new Error(`The query of the logs came to no end (${status}): ask for fewer days.`);
      }
    }
  } catch (error) {
    // One that has ended by itself cannot be stopped.
    if (signal.aborted) await client.send(new StopQueryCommand({ queryId })).catch(() => {});
    throw error;
  }
}

async function startQuery(
  client: CloudWatchLogsClient,
  logGroupNames: string[],
  days: DayRange,
  lines: readonly string[],
): Promise<string | undefined> {
  const command = new StartQueryCommand({
    logGroupNames,
    // In seconds, both ends included.
    startTime: days.from / 1000,
    endTime: days.end / 1000 - 1,
    queryString: lines.join('\n| '),
    limit: MAX_ROWS,
  });
  try {
    return (await client.send(command)).queryId;
  } catch (error) {
    if ((error as Error).name !== 'ResourceNotFoundException') throw error;
    throw new Error(
      `One of the logs ${logGroupNames.join(', ')} is not in ${await client.config.region()}: deploy the stage, or look in its region.`,
    );
  }
}
