import { setTimeout } from 'node:timers/promises';
import { type CloudWatchClient, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  type ResultField,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { FREE_STREAMED_BYTES } from '../../costs/bills/usage.ts';
import { BYTES_OF_A_REQUEST } from '../../costs/units/recordedUnits.ts';
import { toAccessLogName, toFunctionLogName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { DAY_MILLISECONDS, type DayRange } from './dayRange.ts';

/** The requests of one operation that a function logged with the same key and status. */
export interface LoggedRequests {
  readonly operation: OperationId;
  /** None where no valid key came with them. */
  readonly keyName?: string | undefined;
  readonly status: string;
  readonly requests: number;
  readonly milliseconds: number;
  readonly readUnits: number;
  readonly keyReadUnits: number;
  readonly writeUnits: number;
  readonly failedWrites: number;
}

/** The calls of one function, as Lambda itself reports them. */
export interface ReportedCalls {
  readonly operation: OperationId;
  readonly calls: number;
  /** The memory, times the billed duration. */
  readonly megabyteMilliseconds: number;
  readonly traced: number;
}

/** The gateway's lines with the same route and status. */
export interface GatewayRequests {
  /** None for a path or a method that there is not, and for preflights. */
  readonly operation?: OperationId | undefined;
  readonly status: string;
  /** Whether a function was called for them. */
  readonly isCalled: boolean;
  readonly requests: number;
  /** Of the bodies alone. */
  readonly bytes: number;
  /** What answers of more than 10 MB count further. */
  readonly furtherRequests: number;
  /** Beyond the first 6 MB of each answer. */
  readonly streamedBytes: number;
  readonly functionMilliseconds: number;
}

/** What the logs of some days hold. */
export interface LogTotals {
  readonly requests: readonly LoggedRequests[];
  readonly calls: readonly ReportedCalls[];
  readonly gateway: readonly GatewayRequests[];
  /** Whether there were more rows than a query answers with. */
  readonly isCut: boolean;
}

/** So many rows a query answers with at most: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html */
export const MAX_ROWS = 10_000;

/** The bytes that came into each log in those days: what its lines are billed by, and a query that reads them. */
export type LogVolume = ReadonlyMap<string, number>;

/** @returns the bytes by name of the log; 0 where CloudWatch knows of none */
export async function readLogVolume(
  client: CloudWatchClient,
  logGroupNames: readonly string[],
  { from, end }: DayRange,
  abortSignal: AbortSignal,
): Promise<LogVolume> {
  const volume = new Map(logGroupNames.map((name) => [name, 0]));
  const input = {
    StartTime: new Date(from),
    EndTime: new Date(end),
    MetricDataQueries: logGroupNames.map((name, index) => ({
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

export function sumBytes(volumes: readonly LogVolume[]): number {
  return volumes.flatMap((volume) => [...volume.values()]).reduce((sum, one) => sum + one, 0);
}

export function toFunctionLogNames(stage: Stage): string[] {
  return operationIds.map((id) => toFunctionLogName(stage, id));
}

const summed = ['milliseconds', 'readUnits', 'keyReadUnits', 'writeUnits', 'failedWrites'];

/** Requests and reports by one query, since each is billed for all that it reads. */
const functionQuery = [
  'filter ispresent(message.operation) or type = "platform.report"',
  'fields record.metrics.billedDurationMs * record.metrics.memorySizeMB as megabyteMilliseconds, strcontains(record.tracing.value, "Sampled=1") as isTraced',
  `stats count(*) as lines, ${summed.map((name) => `sum(message.${name}) as ${name}`).join(', ')}, sum(megabyteMilliseconds) as billed, sum(isTraced) as traced by @log, type, message.operation as operation, message.status as status, message.keyName as keyName`,
];

/** Numbers may be text in the gateway's lines; Insights reckons with both. */
const accessQuery = [
  'filter ispresent(route)',
  `fields greatest(bytes - ${FREE_STREAMED_BYTES}, 0) as streamed, floor((greatest(bytes, 1) - 1) / ${BYTES_OF_A_REQUEST}) as further`,
  'stats count(*) as lines, sum(bytes) as sent, sum(further) as furtherRequests, sum(streamed) as streamedBytes, sum(functionLatency) as milliseconds by @log, route, method, status, functionStatus',
];

/** @throws {Error} when the logs cannot be asked */
export async function readLogTotals(
  client: CloudWatchLogsClient,
  stage: Stage,
  days: DayRange,
  signal: AbortSignal,
): Promise<LogTotals> {
  const ask = (logGroupNames: readonly string[], lines: readonly string[]) =>
    runQuery(client, { logGroupNames, days, lines }, signal);
  const [written, access] = await Promise.all([
    ask(toFunctionLogNames(stage), functionQuery),
    ask([toAccessLogName(stage)], accessQuery),
  ]);
  return {
    requests: written.flatMap(toLoggedRequests),
    calls: operationIds.map((id) => toReportedCalls(id, toFunctionLogName(stage, id), written)),
    gateway: access.map(toGatewayRequests),
    isCut: written.length >= MAX_ROWS || access.length >= MAX_ROWS,
  };
}

function toLoggedRequests(row: QueryRow): LoggedRequests[] {
  const operation = operationIds.find((id) => id === row.operation);
  if (!operation) return [];
  return [
    {
      operation,
      keyName: row.keyName || undefined,
      status: row.status ?? '',
      requests: toNumber(row.lines),
      milliseconds: toNumber(row.milliseconds),
      readUnits: toNumber(row.readUnits),
      keyReadUnits: toNumber(row.keyReadUnits),
      writeUnits: toNumber(row.writeUnits),
      failedWrites: toNumber(row.failedWrites),
    },
  ];
}

function toReportedCalls(
  operation: OperationId,
  log: string,
  rows: readonly QueryRow[],
): ReportedCalls {
  const row = rows.find(
    (one) => one.type === 'platform.report' && one['@log']?.endsWith(`:${log}`),
  );
  return {
    operation,
    calls: toNumber(row?.lines),
    megabyteMilliseconds: toNumber(row?.billed),
    traced: toNumber(row?.traced),
  };
}

function toGatewayRequests(row: QueryRow): GatewayRequests {
  const operation = operationIds.find(
    (id) => operations[id].path === row.route && operations[id].method === row.method,
  );
  return {
    operation,
    status: row.status ?? '',
    // What the gateway answers to a preflight may have a status as if a function had.
    isCalled: operation !== undefined && (row.functionStatus ?? '-') !== '-',
    requests: toNumber(row.lines),
    bytes: toNumber(row.sent),
    furtherRequests: toNumber(row.furtherRequests),
    streamedBytes: toNumber(row.streamedBytes),
    functionMilliseconds: toNumber(row.milliseconds),
  };
}

/** A sum of nothing is left out. */
function toNumber(text: string | undefined): number {
  return Number(text) || 0;
}

/** A question to some logs, in the language of CloudWatch Logs Insights. */
interface Query {
  readonly logGroupNames: readonly string[];
  readonly days: DayRange;
  readonly lines: readonly string[];
}

/** The fields of a row that there is something in. */
type QueryRow = Readonly<Record<string, string>>;

/** It is asked after less at first, and then each time after twice as long. */
const FIRST_WAIT_MILLISECONDS = 100;
const MAX_WAIT_MILLISECONDS = 1_600;

/**
 * Runs a query to its end; on the signal it is stopped, so that it is billed for no more than it has read.
 * @throws {Error} when it fails, or a log is not there
 */
async function runQuery(
  client: CloudWatchLogsClient,
  query: Query,
  signal: AbortSignal,
): Promise<QueryRow[]> {
  signal.throwIfAborted();
  const queryId = await startQuery(client, query);
  try {
    for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(2 * wait, MAX_WAIT_MILLISECONDS)) {
      await setTimeout(wait, undefined, { signal });
      const command = new GetQueryResultsCommand({ queryId });
      const { status, results = [] } = await client.send(command, { abortSignal: signal });
      if (status === 'Complete') return results.map(toRow);
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
  { logGroupNames, days, lines }: Query,
): Promise<string | undefined> {
  const command = new StartQueryCommand({
    logGroupNames: [...logGroupNames],
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

function toRow(fields: readonly ResultField[]): QueryRow {
  return Object.fromEntries(fields.map(({ field = '', value = '' }) => [field, value]));
}
