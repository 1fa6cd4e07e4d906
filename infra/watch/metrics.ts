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
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../shared/contract/operations.ts';
import { isWrite } from '../../shared/runtime/requestUnits.ts';
import { checkAgent } from '../service/hook/probes.ts';
import {
  clientErrorStatuses,
  toFunctionMetric,
  toGatewayMetric,
  toLogMetric,
} from '../service/serviceMetrics.ts';
import { toNames, toUsedTableName } from '../stages/resourceNames.ts';
import { type Stage, toTableAccess } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';

// A metric without a period has the CDK's, five minutes. A shorter one would wake people for brief problems.

/** More than the requests of the four weeks that the dashboard shows. */
const HIGH = 10_000_000_000;

/** A sum of ones and `HIGH` has two counts. These expressions read them: the failures, and all requests. */
export const toHigh = (counts: string) => `FLOOR(${counts} / ${HIGH})`;
export const toLow = (counts: string) => `(${counts} - ${HIGH} * ${toHigh(counts)})`;

export type AccessLogMetrics = ReturnType<typeof defineAccessLogMetrics>;

/**
 * Counts lines of the access log. It has one line for each request, even if no function was called, or if the function
 * crashed or timed out. Requests of the scheduled check do not count for an operation.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export function defineAccessLogMetrics(scope: Construct, stage: Stage) {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toNames(stage).accessLog);
  const defineFilter = (name: string, pattern: string, metricName: string, value: number) =>
    new MetricFilter(scope, `${name}Filter`, {
      logGroup,
      filterPattern: FilterPattern.literal(`{ ${pattern} }`),
      metricNamespace: toNames(stage).stack,
      metricName,
      metricValue: `${value}`,
    }).metric({ statistic: Stats.SUM });
  const refused = defineFilter('unauthorized', '$.status = "401"', 'refused', 1);
  defineFilter('throttled', '$.status = "429"', 'refused', HIGH);
  // Like the requests: what adds 0 is among the samples alone.
  defineFilter('forbidden', '$.status = "403"', 'refused', 0);
  const samples = refused.with({ statistic: Stats.SAMPLE_COUNT });
  const toRefused = (label: string, expression: string, usingMetrics: Record<string, Metric>) =>
    new MathExpression({ label, expression, usingMetrics });
  const defineOperation = (id: OperationId) => {
    const { method, path } = operations[id];
    const isOfClient = `($.method = "${method}") && ($.route = "${path}") && ($.userAgent != "${checkAgent}")`;
    const isClientError = clientErrorStatuses.map((status) => `($.status = "${status}")`);
    const name = `${id}Requests`;
    const counts = defineFilter(`${id}Failures`, `${isOfClient} && ($.status = "5*")`, name, HIGH);
    // Without alarms, Lambda's count of calls, which costs nothing.
    if (!stage.settings.raisesAlarms) {
      const requests = toFunctionMetric(stage, id, 'Invocations', { statistic: Stats.SUM });
      return { counts, requests };
    }
    defineFilter(name, isOfClient, name, 1);
    const pattern = `${isOfClient} && (${isClientError.join(' || ')})`;
    defineFilter(`${id}ClientErrors`, pattern, name, 0);
    return { counts, requests: counts };
  };
  return {
    /** Requests refused for abuse and throttling. The gateway's own metrics do not distinguish 4xx. */
    refusals: {
      unauthorized: toRefused('unauthorized', toLow('refused'), { refused }),
      forbidden: toRefused(
        'forbidden',
        `samples - ${toLow('FILL(refused, 0)')} - ${toHigh('FILL(refused, 0)')}`,
        { refused, samples },
      ),
      throttled: toRefused('throttled', toHigh('refused'), { refused }),
    },
    /**
     * Clients' requests to an operation, and how many got a 5xx for any reason behind the gateway, or one of
     * `clientErrorStatuses`. One metric has all these counts: a metric costs $0.30 a month, and $0.10 in each alarm. A
     * request adds 1 to its sum, and a failure `HIGH` more. A client error adds 0, and so only a sample.
     */
    operations: mapOperations(defineOperation),
  };
}

/** How long an operation's calls take; for a streamed list until its first byte, since a long list is not slow. */
export function toLatencyMetric(stage: Stage, id: OperationId, options: MetricOptions): Metric {
  return operations[id].streamed
    ? toLogMetric(stage, id, 'FirstByte', options)
    : toFunctionMetric(stage, id, 'Duration', options);
}

/**
 * The percentage of all requests that are counted.
 * @param minCounted below this the result is 0, since a share of a few requests says little
 */
export function toShare(
  stage: Stage,
  label: string,
  counted: IMetric,
  minCounted: number,
): MathExpression {
  return new MathExpression({
    label,
    // FILL, because CloudWatch keeps using the last values when there are no newer ones.
    expression: `IF(FILL(counted, 0) >= ${minCounted}, 100 * counted / requests, 0)`,
    usingMetrics: { counted, requests: toAllRequests(stage) },
  });
}

export function toAllRequests(stage: Stage): Metric {
  return toGatewayMetric(stage, 'Count', { statistic: Stats.SUM });
}

/** Reads, and writes that the functions make, that DynamoDB refused because of their rate. */
export function toTableThrottles(stage: Stage, table: TableName): MathExpression {
  const actions = operationIds.flatMap((id) => toTableAccess(id)[table] ?? []);
  const isWritten = actions.some((action) => isWrite(action.replace('dynamodb:', '')));
  const names = ['ReadThrottleEvents', ...(isWritten ? ['WriteThrottleEvents'] : [])];
  // Ids must be unique in a graph.
  const metrics = names.map((name, index) => [
    `${table}${index}`,
    toTableMetric(stage, table, name),
  ]);
  return toSum(table, Object.fromEntries(metrics));
}

/** If one of several metrics has no value, a plain sum has none either. */
export function toSum(
  label: string,
  usingMetrics: Record<string, IMetric>,
  period = Duration.minutes(5),
): MathExpression {
  const terms = Object.keys(usingMetrics).map((id) => `FILL(${id}, 0)`);
  return new MathExpression({ label, expression: terms.join(' + '), usingMetrics, period });
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html */
export function toTableMetric(stage: Stage, table: TableName, metricName: string): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: toUsedTableName(stage, table) },
    statistic: Stats.SUM,
  });
}
