import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type JsonPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { mapOperations, type OperationId, operations } from '../../shared/contract/operations.ts';
import { isWrite } from '../../shared/runtime/requestUnits.ts';
import { checkAgent } from '../service/hook/probes.ts';
import {
  clientErrorStatuses,
  toFunctionMetric,
  toGatewayMetric,
  toLogMetric,
} from '../service/serviceMetrics.ts';
import {
  type NamedStage,
  toAccessLogName,
  toStackName,
  toUsedTableName,
} from '../stages/resourceNames.ts';
import { type Stage, toTableCalls } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';

/** The period of metrics for alarms and dashboard. A shorter one would wake people for brief problems. */
export const period = Duration.minutes(5);

/**
 * Refusals that show abuse and throttling, counted in the access log. The gateway's own metrics do not distinguish 4xx.
 */
const statuses = { unauthorized: '401', forbidden: '403', throttled: '429' } as const;

/** Refused requests by reason. A metric costs nothing in a month without such a request. */
export type RefusalMetrics = Record<keyof typeof statuses, Metric>;

/**
 * Clients' requests to an operation, those that got a 5xx for any reason behind the gateway, and those that got one
 * of `clientErrorStatuses`.
 */
export type RequestMetrics = Record<'requests' | 'failures' | 'clientErrors', Metric>;

export interface AccessLogMetrics {
  readonly refusals: RefusalMetrics;
  readonly operations: Readonly<Record<OperationId, RequestMetrics>>;
}

/**
 * Counts lines of the access log. It has one line for each request, even if no function was called, or if the function
 * crashed or timed out. Requests of the scheduled check do not count for an operation.
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
    const isClientError = FilterPattern.any(
      ...clientErrorStatuses.map((status) =>
        FilterPattern.stringValue('$.status', '=', `${status}`),
      ),
    );
    const isFailure = FilterPattern.stringValue('$.status', '=', '5*');
    return {
      // A custom metric in every hour with a request. Without alarms, Lambda's own count of calls is enough.
      requests: stage.settings.raisesAlarms
        ? defineMetric(`${id}Requests`, ...isOfClient)
        : toFunctionMetric(stage, id, 'Invocations', { statistic: Stats.SUM, period }),
      failures: defineMetric(`${id}Failures`, ...isOfClient, isFailure),
      clientErrors: defineMetric(`${id}ClientErrors`, ...isOfClient, isClientError),
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

/** How long an operation's calls take; for a streamed list until its first byte, since a long list is not slow. */
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
 * @param minCounted below this the result is 0, since a share of a few requests says little
 * @param sharePeriod replaces the period of both metrics
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
    // FILL, because CloudWatch keeps using the last values when there are no newer ones.
    expression: `IF(FILL(counted, 0) >= ${minCounted}, 100 * counted / requests, 0)`,
    usingMetrics: { counted, requests },
    period: sharePeriod,
  });
}

export function toAllRequests(stage: NamedStage): Metric {
  return toGatewayMetric(stage, 'Count', { statistic: Stats.SUM, period });
}

export function toConsumedUnits(stage: Stage, table: TableName, kind: 'Read' | 'Write'): Metric {
  const TableName = toUsedTableName(stage, table);
  return toMetric(`Consumed${kind}CapacityUnits`, { TableName });
}

/** Reads, and writes that the functions make, that DynamoDB refused because of their rate. */
export function toTableThrottles(stage: Stage, table: TableName): MathExpression {
  const TableName = toUsedTableName(stage, table);
  const isWritten = toTableCalls(table).some(isWrite);
  const names = ['ReadThrottleEvents', ...(isWritten ? ['WriteThrottleEvents'] : [])];
  // If one of the metrics has no value, a plain sum has none either. Ids must be unique in a graph.
  const usingMetrics = Object.fromEntries(
    names.map((name, index) => [`${table}${index}`, toMetric(name, { TableName })]),
  );
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ label: table, expression, usingMetrics, period });
}

/**
 * Writes to inventory entries that DynamoDB refused because of another transaction on the entry.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export function toTransactionConflicts(stage: Stage): Metric {
  return toMetric('TransactionConflict', { TableName: toUsedTableName(stage, 'inventory') });
}

function toMetric(metricName: string, dimensionsMap: Record<string, string>) {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap,
    statistic: Stats.SUM,
    period,
  });
}
