import type { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { toAccessLogName, toFunctionLogName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { FREE_STREAMED_BYTES } from '../model/components.ts';
import { BYTES_OF_A_REQUEST } from '../units/recordedUnits.ts';
import type { DayRange } from './dayRange.ts';
import { MOST_ROWS, type QueryRow, runQuery } from './runQuery.ts';

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
    isCut: written.length >= MOST_ROWS || access.length >= MOST_ROWS,
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
