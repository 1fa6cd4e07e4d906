import { Duration } from 'aws-cdk-lib';
import {
  type IMetric,
  MathExpression,
  Metric,
  type MetricOptions,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { toFunctionMetric, toGatewayMetric, toLogMetric } from '../service/serviceMetrics.ts';
import {
  type NamedStage,
  toAccessLogName,
  toStackName,
  toUsedTableName,
} from '../stages/resourceNames.ts';
import { type Stage, toTableCalls } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';

/** The period of the metrics that alarms and dashboard look at: shorter would wake people for what passes. */
export const period = Duration.minutes(5);

/** The refusals that tell abuse and throttling, counted from the access log: the gateway's own metrics lump all 4xx together. */
const statuses = { unauthorized: '401', forbidden: '403', throttled: '429' } as const;

/** Requests refused for each reason; a metric costs nothing in a month without such a request. */
export type RefusalMetrics = Record<keyof typeof statuses, Metric>;

/** Has the access log's refusals counted. */
export function defineAccessLogMetrics(scope: Construct, stage: NamedStage): RefusalMetrics {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toAccessLogName(stage));
  const defineMetric = (reason: keyof typeof statuses) =>
    new MetricFilter(scope, `${reason}Filter`, {
      logGroup,
      filterPattern: FilterPattern.stringValue('$.status', '=', statuses[reason]),
      metricNamespace: toStackName(stage),
      metricName: reason,
      metricValue: '1',
    }).metric({ statistic: Stats.SUM, period });
  return {
    unauthorized: defineMetric('unauthorized'),
    forbidden: defineMetric('forbidden'),
    throttled: defineMetric('throttled'),
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
 * The percentage of all requests that `metric` counts.
 * @param minRequests as long as there are fewer, it is 0: a share of a few requests says little
 * @param sharePeriod the period of the share, and of `metric` too
 */
export function toRequestShare(
  stage: NamedStage,
  label: string,
  metric: IMetric,
  minRequests: number,
  sharePeriod: Duration = period,
): MathExpression {
  return new MathExpression({
    label,
    expression: `IF(counted >= ${minRequests}, 100 * counted / requests, 0)`,
    usingMetrics: {
      counted: metric,
      requests: toGatewayMetric(stage, 'Count', { statistic: Stats.SUM, period: sharePeriod }),
    },
    period: sharePeriod,
  });
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
