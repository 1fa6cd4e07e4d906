import type { Duration } from 'aws-cdk-lib';
import {
  type IMetric,
  MathExpression,
  Metric,
  type MetricOptions,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { apiVersion } from '../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../shared/contract/operations.ts';
import { isWrite } from '../../../shared/runtime/requestUnits.ts';
import { FILTERED } from '../../gateway/gatewayErrors.ts';
import { checkAgent, findTableName, toNames } from '../../stages/resourceNames.ts';
import { findTableAccess, type Stage } from '../../stages/stages.ts';
import type { TableName } from '../../stages/tables.ts';
import { type AlarmPart, clientErrorStatuses } from '../service/serviceMetrics.ts';

// A metric without a period has the CDK's, five minutes. A shorter one would wake people for brief problems.

export type AccessLogMetrics = ReturnType<typeof defineAccessLogMetrics>;

/**
 * Counts lines of the access log. It has one line for each request, even if no function was called, or if the function
 * crashed or timed out. Requests of the scheduled check do not count for an operation.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
 */
export function defineAccessLogMetrics(scope: Construct, stage: Stage) {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toNames(stage).accessLog);
  const defineFilter = (name: string, pattern: string, metricName = name) =>
    new MetricFilter(scope, `${name}Filter`, {
      logGroup,
      filterPattern: FilterPattern.literal(`{ ${pattern} }`),
      metricNamespace: toNames(stage).stack,
      metricName,
      metricValue: '1',
    }).metric({ statistic: Stats.SUM, label: metricName });
  const { raisesAlarms, quietMinutes, firewall } = stage.settings;
  const defineOperation = (id: OperationId) => {
    const { method, path } = operations[id];
    const isOfClient = `($.method = "${method}") && ($.route = "${path}") && ($.userAgent != "${checkAgent}")`;
    const isClientError = clientErrorStatuses.map((status) => `($.status = "${status}")`);
    const defineCount = (name: string, condition = '', metricName = `${id}${name}`) =>
      defineFilter(`${id}${name}`, `${isOfClient}${condition}`, metricName);
    return {
      failures: defineCount('Failures', ' && ($.status = "5*")'),
      // Only alarms read these.
      ...(raisesAlarms && {
        clientErrors: defineCount('ClientErrors', ` && (${isClientError.join(' || ')})`),
        ...(quietMinutes !== undefined && {
          any: defineCount('Any', ` && ($.gatewayError != "${FILTERED}")`, 'requests'),
        }),
      }),
    };
  };
  return {
    /** Requests refused for abuse and throttling. The gateway's own metrics do not distinguish 4xx. */
    refusals: {
      unauthorized: defineFilter('unauthorized', '$.status = "401"'),
      // The check's own update is refused each time.
      forbidden: defineFilter(
        'forbidden',
        `($.status = "403") && ($.gatewayError != "${FILTERED}") && ($.userAgent != "${checkAgent}")`,
      ),
      throttled: defineFilter('throttled', '$.status = "429"'),
    },
    /**
     * What the firewall refuses with 403. The gateway counts it as a request, and logs it:
     * https://repost.aws/questions/QUT-Ts0igfSrCdZdWeuzwLCA/api-gateway-access-log-still-get-requests-blocked-by-waf
     */
    ...(firewall &&
      raisesAlarms && {
        filtered: defineFilter(
          'filtered',
          `($.status = "403") && ($.gatewayError = "${FILTERED}")`,
        ),
      }),
    /**
     * What clients of an operation got: a 5xx for any reason behind the gateway, or one of `clientErrorStatuses`. Their
     * requests are counted only where `no-requests` pages, of all operations together, since that costs $0.30 a month.
     * Elsewhere Lambda's own count of calls does.
     */
    operations: mapOperations(defineOperation),
  };
}

/**
 * Clients' calls, from the metric `calls` of Lambda, which costs nothing. Those of the scheduled check come at fixed
 * times. Lambda counts no call that it refused, so each failure counts as a call at least.
 * @returns an expression, never below the failures
 */
export function renderClientCalls(
  { settings: { checkEveryMinutes } }: Stage,
  period: Duration,
  calls: string,
  failures: string,
): string {
  const checks = checkEveryMinutes ? period.toMinutes() / checkEveryMinutes : 0;
  return `MAX([FILL(${calls}, 0) - ${Number(checks.toFixed(3))}, FILL(${failures}, 0)])`;
}

/** A metric by Lambda for all versions of a function together. */
export function buildFunctionMetric(
  stage: Stage,
  operationId: OperationId,
  metricName: 'ConcurrentExecutions' | 'Duration' | 'Errors' | 'Invocations' | 'Throttles',
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: toNames(stage).toFunction(operationId) },
    label: operationId,
    ...options,
  });
}

/**
 * A metric by the gateway for all requests to a stage. The averages of `4XXError` and `5XXError` are their shares of
 * the requests.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export function buildGatewayMetric(
  stage: Stage,
  metricName: '4XXError' | '5XXError' | 'Count' | 'IntegrationLatency' | 'Latency',
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: toNames(stage).api, Stage: apiVersion },
    ...options,
  });
}

export function buildCallsMetric(stage: Stage, id: OperationId): Metric {
  return buildFunctionMetric(stage, id, 'Invocations', { statistic: Stats.SUM });
}

/** How long an operation's calls take; for a streamed list until its first byte, since a long list is not slow. */
export function buildLatencyMetric(stage: Stage, id: OperationId, options: MetricOptions): Metric {
  return operations[id].streamed
    ? new Metric({ namespace: toNames(stage).stack, metricName: `${id}FirstByte`, ...options })
    : buildFunctionMetric(stage, id, 'Duration', options);
}

/**
 * The percentage of all requests that are counted.
 * @param minCounted below this the result is 0, since a share of a few requests says little
 * @param filtered left out of all requests, or a flood that is blocked would hide what others get
 */
export function buildShareMetric(
  stage: Stage,
  label: string,
  counted: IMetric,
  minCounted: number,
  filtered?: IMetric,
): MathExpression {
  const all = filtered ? 'MAX([requests - FILL(filtered, 0), counted])' : 'requests';
  return new MathExpression({
    label,
    // FILL, because CloudWatch keeps using the last values when there are no newer ones.
    expression: `IF(FILL(counted, 0) >= ${minCounted}, 100 * counted / ${all}, 0)`,
    usingMetrics: { counted, requests: buildRequestsMetric(stage), ...(filtered && { filtered }) },
  });
}

export function buildRequestsMetric(stage: Stage): Metric {
  return buildGatewayMetric(stage, 'Count', { statistic: Stats.SUM });
}

/** Reads, and writes that the functions make, that DynamoDB refused because of their rate. */
export function buildTableThrottles(stage: Stage, table: TableName): AlarmPart {
  const actions = operationIds.flatMap((id) => findTableAccess(id)[table] ?? []);
  const isWritten = actions.some((action) => isWrite(action.replace('dynamodb:', '')));
  const names = ['ReadThrottleEvents', ...(isWritten ? ['WriteThrottleEvents'] : [])];
  return sumMetrics(
    table,
    names.map((name) => buildTableMetric(stage, table, name)),
  );
}

/** If one of several metrics has no value, a plain sum has none either. @param prefix of ids, unique in a graph */
export function sumMetrics(prefix: string, metrics: readonly Metric[]): AlarmPart {
  const entries = metrics.map((metric, index) => [`${prefix}${index}`, metric] as const);
  return {
    value: entries.map(([id]) => `FILL(${id}, 0)`).join(' + '),
    usingMetrics: Object.fromEntries(entries),
  };
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html */
export function buildTableMetric(stage: Stage, table: TableName, metricName: string): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: findTableName(stage, table) },
    statistic: Stats.SUM,
  });
}
