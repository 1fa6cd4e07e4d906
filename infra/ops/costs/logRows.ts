import { setTimeout } from 'node:timers/promises';
import { type CloudWatchClient, GetMetricDataCommand } from '@aws-sdk/client-cloudwatch';
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { operationIds } from '../../../shared/contract/operations.ts';
import { FREE_STREAMED_BYTES } from '../../costs/bills/usage.ts';
import { BYTES_OF_A_REQUEST } from '../../costs/units/answerUnits.ts';
import { toAccessLogName, toFunctionLogName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { DAY_MILLISECONDS, type DayRange } from './dayRange.ts';

/** The bytes that came into each log in some days: what its lines are billed by, and a query that reads them. */
export type LogVolume = ReadonlyMap<string, number>;

/** @returns the bytes by name of the log */
export async function readLogVolume(
  client: CloudWatchClient,
  stage: Stage,
  { from, end }: DayRange,
): Promise<LogVolume> {
  const names = [...toFunctionLogNames(stage), toAccessLogName(stage)];
  const command = new GetMetricDataCommand({
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
  });
  const { MetricDataResults = [] } = await client.send(command);
  return new Map(
    MetricDataResults.map(({ Label = '', Values = [] }) => {
      return [Label, Values.reduce((sum, value) => sum + value, 0)];
    }),
  );
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

/** Requests and reports by one query, since each is billed for all that it reads. */
const functionQuery = [
  'filter ispresent(message.operation) or type = "platform.report"',
  'fields record.metrics.billedDurationMs * record.metrics.memorySizeMB as megabyteMilliseconds, strcontains(record.tracing.value, "Sampled=1") as isTraced',
  'stats count(*) as lines, sum(message.milliseconds) as milliseconds, sum(message.readUnits) as readUnits, sum(message.writeUnits) as writeUnits, sum(megabyteMilliseconds) as billed, sum(isTraced) as traced by @log, type, message.operation as operation, message.status as status, message.keyName as keyName',
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
): Promise<LogRows> {
  const [functions, access] = await Promise.all([
    runQuery(client, toFunctionLogNames(stage), days, functionQuery),
    runQuery(client, [toAccessLogName(stage)], days, accessQuery),
  ]);
  return { functions, access };
}

/** So many rows a query answers with at most: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html */
const MAX_ROWS = 10_000;
/** It is asked after less at first, and then each time after twice as long. */
const FIRST_WAIT_MILLISECONDS = 100;
const MAX_WAIT_MILLISECONDS = 1_600;

/** @throws {Error} when the query fails, or has more rows than it can answer with */
async function runQuery(
  client: CloudWatchLogsClient,
  logGroupNames: string[],
  { from, end }: DayRange,
  lines: readonly string[],
): Promise<QueryRow[]> {
  const query = new StartQueryCommand({
    logGroupNames,
    // In seconds, both ends included.
    startTime: from / 1000,
    endTime: end / 1000 - 1,
    queryString: lines.join('\n| '),
    limit: MAX_ROWS,
  });
  const { queryId } = await client.send(query);
  for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(2 * wait, MAX_WAIT_MILLISECONDS)) {
    await setTimeout(wait);
    const { status, results = [] } = await client.send(new GetQueryResultsCommand({ queryId }));
    if (status === 'Running' || status === 'Scheduled') continue;
    if (status !== 'Complete' || results.length >= MAX_ROWS) {
      throw new Error(
        `The query of the logs came to no end (${status}, ${results.length} rows): ask for fewer days.`,
      );
    }
    return results.map((fields) =>
      Object.fromEntries(fields.map(({ field = '', value = '' }) => [field, value])),
    );
  }
}
