import { Duration } from 'aws-cdk-lib';
import {
  type IMetric,
  MathExpression,
  Metric,
  type MetricOptions,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type JsonPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { mapOperations, type OperationId, operations } from '../../shared/contract/operations.ts';
import { toFunctionMetric, toGatewayMetric, toLogMetric } from '../service/serviceMetrics.ts';
import {
  type NamedStage,
  toAccessLogName,
  toStackName,
  toUsedTableName,
} from '../stages/resourceNames.ts';
import { type Stage, toTableCalls } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';
import { checkAgent } from './check/probes.ts';

/** The period of the metrics that alarms and dashboard look at: shorter would wake people for what passes. */
export const period = Duration.minutes(5);

/** The refusals that tell abuse and throttling, counted from the access log: the gateway's own metrics lump all 4xx together. */
const statuses = { unauthorized: '401', forbidden: '403', throttled: '429' } as const;

/** Requests refused for each reason; a metric costs nothing in a month without such a request. */
export type RefusalMetrics = Record<keyof typeof statuses, Metric>;

/** What clients asked of an operation, and what of it they got a 5xx for, whatever went wrong behind the gateway. */
export type RequestMetrics = Record<'requests' | 'failures', Metric>;

export interface AccessLogMetrics {
  readonly refusals: RefusalMetrics;
  readonly operations: Readonly<Record<OperationId, RequestMetrics>>;
}

/**
 * Has the lines of the access log counted, which has one for each request, those included that no function was
 * called for, that crashed it or that ran out of time. The scheduled check's own count for no operation.
 */
export function defineAccessLogMetrics(scope: Construct, stage: Stage): AccessLogMetrics {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toAccessLogName(stage));
  const defineMetric = (metricName: string, ...patterns: JsonPattern[]) =>
    new MetricFilter(scope, `${metricName}Filter`, {
      logGroup,
      filterPattern: FilterPattern.all(...patterns),
      metricNamespace: toStackName(stage),
      metricName,
      metricValue: '1',
    }).metric({ statistic: Stats.SUM, period });
  const defineRefusals = (reason: keyof typeof statuses) =>
    defineMetric(reason, FilterPattern.stringValue('$.status', '=', statuses[reason]));
  const defineOperation = (id: OperationId): RequestMetrics => {
    const { method, path } = operations[id];
    const isOfClient = [
      FilterPattern.stringValue('$.method', '=', method),
      FilterPattern.stringValue('$.route', '=', path),
      FilterPattern.stringValue('$.userAgent', '!=', checkAgent),
    ];
    const isFailure = FilterPattern.stringValue('$.status', '=', '5*');
    return {
      // A custom metric in every hour with a request, where Lambda's own count of calls does without alarms.
      requests: stage.settings.raisesAlarms
        ? defineMetric(`${id}Requests`, ...isOfClient)
        : toFunctionMetric(stage, id, 'Invocations', { statistic: Stats.SUM, period }),
      failures: defineMetric(`${id}Failures`, ...isOfClient, isFailure),
    };
  };
  return {
    refusals: {
      unauthorized: defineRefusals('unauthorized'),
      forbidden: defineRefusals('forbidden'),
      throttled: defineRefusals('throttled'),
    },
    operations: mapOperations(defineOperation),
  };
}

/** How long an operation's calls take; of a streamed list, until its first byte: a long list is not slow. */
export function toLatencyMetric(
  stage: NamedStage,
  id: OperationId,
  options: MetricOptions,
): Metric {
  return operations[id].streamed
    ? toLogMetric(stage, id, 'firstByte', options)
    : toFunctionMetric(stage, id, 'Duration', options);
}

/**
 * The percentage of `requests` that are counted.
 * @param minCounted as long as there are fewer, it is 0: a share of a few requests says little
 * @param sharePeriod of both metrics, in place of their own
 */
export function toShare(
  label: string,
  counted: Metric,
  requests: Metric,
  minCounted: number,
  sharePeriod: Duration = period,
): MathExpression {
  return new MathExpression({
    label,
    // Filled, since CloudWatch goes on looking at the last values where there are no newer ones.
    expression: `IF(FILL(counted, 0) >= ${minCounted}, 100 * counted / requests, 0)`,
    usingMetrics: { counted, requests },
    period: sharePeriod,
  });
}

/** All requests to a stage. */
export function toAllRequests(stage: NamedStage): Metric {
  return toGatewayMetric(stage, 'Count', { statistic: Stats.SUM, period });
}

/** The request units that a table consumed. */
export function toConsumedUnits(stage: Stage, table: TableName, kind: 'Read' | 'Write'): Metric {
  const TableName = toUsedTableName(stage, table);
  return toMetric(`Consumed${kind}CapacityUnits`, { TableName }, table);
}

/** The reads, and what writes the functions make, that DynamoDB refused for their rate. */
export function toTableThrottles(stage: Stage, table: TableName): MathExpression {
  const TableName = toUsedTableName(stage, table);
  const isWritten = toTableCalls(table).some((call) => /^(Update|TransactWrite)/.test(call));
  const names = ['ReadThrottleEvents', ...(isWritten ? ['WriteThrottleEvents'] : [])];
  return toTotal(table, names, (name) => toMetric(name, { TableName }));
}

/** DynamoDB's own failures, which it counts by the kind of call. */
export function toTableSystemErrors(stage: Stage, table: TableName): MathExpression {
  const TableName = toUsedTableName(stage, table);
  return toTotal(table, toTableCalls(table), (Operation) =>
    toMetric('SystemErrors', { TableName, Operation }),
  );
}

/**
 * The writes to inventory entries that DynamoDB refused since another transaction on the entry was at work.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export function toTransactionConflicts(stage: Stage): Metric {
  return toMetric('TransactionConflict', { TableName: toUsedTableName(stage, 'inventory') });
}

function toMetric(metricName: string, dimensionsMap: Record<string, string>, label?: string) {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap,
    statistic: Stats.SUM,
    period,
    ...(label && { label }),
  });
}

/** Where one of the metrics has no value, a plain sum would have none either. Ids are unique in a graph. */
function toTotal(
  table: TableName,
  names: readonly string[],
  toNamedMetric: (name: string) => IMetric,
): MathExpression {
  const usingMetrics = Object.fromEntries(
    names.map((name, index) => [`${table}${index}`, toNamedMetric(name)]),
  );
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ label: table, expression, usingMetrics, period });
}
