import {
  CloudWatchClient,
  GetMetricDataCommand,
  type MetricDataQuery,
  paginateDescribeAlarms,
} from '@aws-sdk/client-cloudwatch';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { type PublishedVersion, readLiveFunctions, toLiveText } from '../../cli/liveFunctions.ts';
import {
  findOperation,
  type QueryRow,
  runQuery,
  toFunctionLogNames,
  toNumber,
} from '../../cli/logsInsights.ts';
import { hideSecrets } from '../../cli/output.ts';
import type { OpenStage, Part } from '../../cli/stageStack.ts';
import { toAccessLogName, toFunctionLogName, toUsedTableName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import { type TableName, tableNames } from '../../stages/tables.ts';
import { checkAgent } from '../../watch/check/probes.ts';
import { choosePrevious, type IsLeft, isDone, newestServed } from '../rollback/aliases.ts';
import { findDeployments } from '../rollback/deployments.ts';
import { isLeft, type LeftVersions, readLeftVersions } from '../rollback/leftVersions.ts';

export type Night = Awaited<ReturnType<typeof readNight>>;
export type TopError = Awaited<ReturnType<typeof readRequests>>['errors'][number];

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** Reads each part of the page by itself: where one fails, the others are shown. */
export async function readNight(
  stage: OpenStage & { readonly status: Part<string> },
  now: number,
  deadline: AbortSignal,
) {
  const settle = <Value>(reading: Promise<Value>): Promise<Part<Value>> =>
    reading.then(
      (value) => ({ value }),
      (error) => ({ unread: deadline.aborted ? 'no response in time' : toErrorLine(error) }),
    );
  const reading = settle(readLeftVersions(stage));
  const [alarms, live, left, deployments, requests, throttles] = await Promise.all([
    settle(readAlarms(stage)),
    settle(readLive(stage, reading)),
    reading,
    settle(findDeployments(stage)),
    settle(readRequests(stage, now, deadline)),
    settle(readThrottles(stage, now)),
  ]);
  return { stack: stage.status, alarms, live, left, deployments, requests, throttles };
}

/** Descriptions have the form "Page: It means this. Do that." */
async function readAlarms({ name: stackName, open }: OpenStage) {
  const pages = paginateDescribeAlarms(
    { client: open(CloudWatchClient) },
    { AlarmNamePrefix: `${stackName}-` },
  );
  const alarms = (await Array.fromAsync(pages)).flatMap(({ MetricAlarms = [] }) => MetricAlarms);
  const firing = alarms
    .filter(({ StateValue }) => StateValue === 'ALARM')
    .map(({ AlarmName = '', AlarmDescription = '', StateTransitionedTimestamp }) => {
      // These notify nobody and have no severity: only a running deployment looks at them.
      const unlabelled = /Rollback(Errors|ServerErrors|Latency)/.test(AlarmName) ? 'rollback' : '-';
      const [, label = unlabelled, text = AlarmDescription] =
        /^(Page|Ticket): (.*)$/s.exec(AlarmDescription) ?? [];
      const [, means = text, act = ''] = /^(.+?\.) (.*)$/s.exec(text) ?? [];
      return {
        name: AlarmName.slice(stackName.length + 1),
        severity: label.toLowerCase(),
        since: StateTransitionedTimestamp?.toISOString() ?? '',
        means,
        act,
      };
    })
    .sort((one, other) => toOrder(one).localeCompare(toOrder(other)));
  return { total: alarms.length, firing };
}

/** Pages first, then what has fired for longest. */
function toOrder({ severity, since }: { readonly severity: string; readonly since: string }) {
  return `${severity === 'page' ? 0 : 1} ${since}`;
}

/** The commits that serve requests, and where a roll-back would go. */
async function readLive(stage: OpenStage, reading: Promise<Part<LeftVersions>>) {
  const functions = await readLiveFunctions(stage);
  const known = await reading;
  const marked = 'value' in known ? known.value : {};
  const isMarked: IsLeft = (from, version) => isLeft(marked, from, version);
  const served = functions.map((one) =>
    one.versions.find(({ version }) => version === newestServed(one)),
  );
  const newest = served.toSorted((one, other) => toTime(one).localeCompare(toTime(other))).at(-1);
  const moves = choosePrevious(functions, isMarked) ?? [];
  const [back] = moves.filter((move) => !isDone(move));
  const left = functions.flatMap((one) =>
    one.versions.filter((version) => isMarked(one, version)).map(({ commit }) => commit),
  );
  return {
    commits: toLiveText(functions),
    /** Of the newest version that serves requests. */
    commit: newest?.commit || 'the live version',
    publishedAt: toTime(newest),
    /** Absent without an earlier version of other code, and after a roll-back. */
    previous: back && { commit: back.to.commit, publishedAt: toTime(back.to) },
    /** The commit that was deployed last, if a roll-back has replaced it. */
    rolledBack: moves.length > 0 && !back ? functions[0]?.versions[0]?.commit : undefined,
    /** The commits that roll-backs have left, newest first. */
    left: [...new Set(left)],
  };
}

/** As RFC 3339: Lambda writes the zone as `+0000`. */
function toTime(version: PublishedVersion | undefined): string {
  return version?.publishedAt.replace(/\+0000$/, 'Z') ?? '';
}

/** The gateway logs a line for every request, also where it calls no function. It logs the status as text. */
export const accessQuery = [
  'filter ispresent(route)',
  `fields strcontains(userAgent, "${checkAgent}") as isCheck`,
  'stats count(*) as lines, latest(requestId) as request by isCheck, method, route, status, gatewayError',
];

/** Errors with their cause. The platform's line shows what a function could not log, such as a timeout. */
export const errorQuery = [
  'filter level in ["ERROR", "FATAL"] or (type = "platform.report" and record.status != "success")',
  'fields coalesce(message.requestId, record.requestId, requestId) as id',
  'stats count(*) as lines, latest(id) as request, latest(message.error.message) as text, latest(message.error.cause.message) as causeText by @log, message.error.name as error, message.error.cause.name as cause, message.errorType as crash, record.status as ended',
  'sort lines desc',
];

/** Shown of each operation. */
const MAX_ERRORS = 3;

/** Clients' requests of the last hour by operation, with the most frequent errors. */
async function readRequests({ stage, open }: OpenStage, now: number, signal: AbortSignal) {
  const client = open(CloudWatchLogsClient);
  const second = now - (now % 1_000);
  const hour = { from: second - HOUR, end: second + 1_000 };
  const [access, logged] = await Promise.all([
    runQuery(client, [toAccessLogName(stage)], hour, accessQuery, signal),
    runQuery(client, toFunctionLogNames(stage), hour, errorQuery, signal),
  ]);
  const isFailure = ({ status = '' }: QueryRow) => status.startsWith('5');
  const isCheck = (row: QueryRow) => row.isCheck === '1';
  const operations = operationIds.map((operation) => {
    const rows = access.filter((row) => findOperation(row) === operation && !isCheck(row));
    const failed = rows.filter(isFailure);
    return { operation, requests: sumLines(rows), failed: sumLines(failed) };
  });
  const ofGateway = access
    .filter((row) => isFailure(row) && (row.gatewayError ?? '-') !== '-')
    .map((row) => toTopError(row, findOperation(row), `${row.status} ${row.gatewayError}`));
  const ofFunctions = logged.map((row) => {
    const operation = operationIds.find((id) =>
      row['@log']?.endsWith(`:${toFunctionLogName(stage, id)}`),
    );
    return toTopError(row, operation, toErrorText(row));
  });
  const found = [...ofFunctions, ...ofGateway].sort((one, other) => other.count - one.count);
  const errors = [...Map.groupBy(found, ({ operation }) => operation).values()];
  const refused = access.filter((row) => isCheck(row) && row.status === '401');
  return {
    operations,
    errors: errors.flatMap((some) => some.slice(0, MAX_ERRORS)),
    /** Requests of the scheduled check that got 401. */
    refusedChecks: sumLines(refused),
  };
}

function toTopError(row: QueryRow, operation: OperationId | undefined, error: string) {
  const { request = '' } = row;
  // A path with a quote in it can forge fields of the gateway's line. The id goes to a shell.
  const requestId = /^[\w-]{2,64}$/.test(request) ? request : undefined;
  const count = toNumber(row.lines);
  return { operation: operation ?? 'gateway', count, error: hideSecrets(error), requestId };
}

function toErrorText({ error, text = '', cause, causeText = '', crash, ended }: QueryRow): string {
  if (error === undefined) return crash ?? `Lambda ended the call: ${ended}`;
  return `${error}: ${text}${cause === undefined ? '' : `, caused by ${cause}: ${causeText}`}`;
}

function sumLines(rows: readonly QueryRow[]): number {
  return rows.reduce((sum, { lines }) => sum + toNumber(lines), 0);
}

/** The tables that DynamoDB throttled in the last hour, for reads or for writes. */
async function readThrottles({ stage, open }: OpenStage, now: number) {
  const command = new GetMetricDataCommand({
    StartTime: new Date(now - HOUR),
    EndTime: new Date(now),
    MetricDataQueries: tableNames.flatMap((table) =>
      kinds.flatMap((kind) => [
        toMetricQuery(stage, table, `${kind}ThrottleEvents`),
        toMetricQuery(stage, table, `Consumed${kind}CapacityUnits`),
      ]),
    ),
  });
  const { MetricDataResults = [] } = await open(CloudWatchClient).send(command);
  const valuesOf = (id: string) => MetricDataResults.find(({ Id }) => Id === id)?.Values ?? [];
  return tableNames.flatMap((table) =>
    kinds.flatMap((kind) => {
      const throttled = valuesOf(`${table}${kind}ThrottleEvents`).reduce(
        (sum, one) => sum + one,
        0,
      );
      if (throttled === 0) return [];
      const consumed = valuesOf(`${table}Consumed${kind}CapacityUnits`);
      const limits = stage.settings.maximumUnitsPerSecond[table];
      const [access, maximum] =
        kind === 'Read' ? (['read', limits.read] as const) : (['write', limits.write] as const);
      /** Units a second in the busiest minute. */
      const peak = Math.max(0, ...consumed) / (MINUTE / 1_000);
      return [{ table, access, throttled, peak, maximum }];
    }),
  );
}

const kinds = ['Read', 'Write'] as const;

function toMetricQuery(stage: Stage, table: TableName, MetricName: string): MetricDataQuery {
  return {
    Id: `${table}${MetricName}`,
    MetricStat: {
      Metric: {
        Namespace: 'AWS/DynamoDB',
        MetricName,
        Dimensions: [{ Name: 'TableName', Value: toUsedTableName(stage, table) }],
      },
      Period: MINUTE / 1_000,
      Stat: 'Sum',
    },
  };
}
