import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import {
  FilterPattern,
  type IFilterPattern,
  type ILogGroup,
  MetricFilter,
} from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { apiVersion } from '../../shared/contract/operation.ts';
import type { OperationId } from '../../shared/contract/operations.ts';
import {
  type NamedStage,
  toApiName,
  toFunctionName,
  toStackName,
} from '../stages/resourceNames.ts';

/**
 * What is counted from the request lines of a function's log. Such a metric is a custom one, $0.30 a month,
 * of which the hours count in which it has a value: errors cost nothing where there are none.
 */
const logMetrics = {
  /**
   * Milliseconds from a request to the first byte of a streamed answer: how long the whole answer takes
   * says more of its length and its client than of the service.
   */
  firstByte: { suffix: 'FirstByte', value: '$.message.firstByteMilliseconds' },
  /** Answers of 500 and more, which Lambda does not count as errors: the handler answers them by itself. */
  serverErrors: { suffix: 'ServerErrors', value: '1' },
} as const;
export type LogMetricName = keyof typeof logMetrics;

const patterns: Record<LogMetricName, IFilterPattern> = {
  firstByte: FilterPattern.numberValue(logMetrics.firstByte.value, '>=', 0),
  serverErrors: FilterPattern.numberValue('$.message.status', '>=', 500),
};

/** Has a metric counted of all versions of a function together, or of each one alone. */
export function defineLogMetric(
  scope: Construct,
  stage: NamedStage,
  operationId: OperationId,
  name: LogMetricName,
  logGroup: ILogGroup,
  isByVersion = false,
): void {
  const { suffix, value } = logMetrics[name];
  new MetricFilter(scope, `${operationId}${isByVersion ? 'Version' : ''}${suffix}Filter`, {
    logGroup,
    filterPattern: patterns[name],
    metricNamespace: toStackName(stage),
    metricName: `${operationId}${suffix}`,
    metricValue: value,
    ...(isByVersion && { dimensions: { [versionDimension]: '$.message.version' } }),
  });
}

const versionDimension = 'Version';

/** @param version of this one alone; by default of all together */
export function toLogMetric(
  stage: NamedStage,
  operationId: OperationId,
  name: LogMetricName,
  options: MetricOptions,
  version?: string,
): Metric {
  return new Metric({
    namespace: toStackName(stage),
    metricName: `${operationId}${logMetrics[name].suffix}`,
    ...(version !== undefined && { dimensionsMap: { [versionDimension]: version } }),
    ...options,
  });
}

/** A metric that Lambda keeps of a function, all of its versions together. */
export function toFunctionMetric(
  stage: NamedStage,
  operationId: OperationId,
  metricName: 'ConcurrentExecutions' | 'Duration' | 'Errors' | 'Invocations' | 'Throttles',
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: toFunctionName(stage, operationId) },
    label: operationId,
    ...options,
  });
}

/**
 * A metric that the gateway keeps by itself of all requests to a stage. The averages of `4XXError` and
 * `5XXError` are their shares of the requests.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html
 */
export function toGatewayMetric(
  stage: NamedStage,
  metricName: '4XXError' | '5XXError' | 'Count' | 'IntegrationLatency' | 'Latency',
  options: MetricOptions,
): Metric {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiName: toApiName(stage), Stage: apiVersion },
    ...options,
  });
}
