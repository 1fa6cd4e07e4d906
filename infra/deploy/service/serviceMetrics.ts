import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { toNames } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';

/** With these, usually a client is at fault. If half of all requests get one, it may be the service. */
export const clientErrorStatuses = [400, 401, 404, 412];

/**
 * What is counted in the request lines of a function's log. Each is a custom metric, $0.30 a month, billed only for
 * hours with a value. Without errors, counting errors costs nothing.
 */
const logMetrics = {
  /**
   * Milliseconds from a request to the first byte of a streamed response. The duration of the whole response depends
   * more on its length and the client than on the service.
   */
  FirstByte: {
    value: '$.message.firstByteMilliseconds',
    pattern: '$.message.firstByteMilliseconds >= 0',
  },
  /** Lambda does not count them as errors, since the handler returns them itself. */
  ServerErrors: {
    value: '1',
    pattern: '$.message.status >= 500',
  },
  ClientErrors: {
    value: '1',
    pattern: clientErrorStatuses.map((status) => `($.message.status = ${status})`).join(' || '),
  },
};
export type LogMetricName = keyof typeof logMetrics;

/** Counts a metric for all versions of a function together, or for each one alone. */
export function defineLogMetric(
  scope: Construct,
  stage: Stage,
  operationId: OperationId,
  name: LogMetricName,
  logGroup: ILogGroup,
  isByVersion = false,
): MetricFilter {
  const { value, pattern } = logMetrics[name];
  return new MetricFilter(scope, `${operationId}${isByVersion ? 'Version' : ''}${name}Filter`, {
    logGroup,
    filterPattern: FilterPattern.literal(`{ ${pattern} }`),
    metricNamespace: toNames(stage).stack,
    metricName: `${operationId}${name}`,
    metricValue: value,
    ...(isByVersion && { dimensions: { Version: '$.message.version' } }),
  });
}

/** What an alarm on several operations or tables reads of one. */
export interface AlarmPart {
  /** The expression of its value, with the ids of its metrics. */
  readonly value: string;
  readonly usingMetrics: Readonly<Record<string, IMetric>>;
}

/** CloudWatch takes no more in one alarm: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html */
const MAX_ALARM_METRICS = 10;

export function groupAlarmParts<Part extends AlarmPart>(parts: readonly Part[]): Part[][] {
  const metricsEach = Math.max(1, ...parts.map((one) => Object.keys(one.usingMetrics).length));
  const length = Math.floor(MAX_ALARM_METRICS / metricsEach);
  return Array.from({ length: Math.ceil(parts.length / length) }, (_, index) =>
    parts.slice(index * length, (index + 1) * length),
  );
}

export function buildLargestMetric(
  label: string,
  parts: readonly AlarmPart[],
  period: Duration,
): MathExpression {
  return new MathExpression({
    label,
    expression: `MAX([${parts.map(({ value }) => value).join(', ')}])`,
    usingMetrics: Object.assign({}, ...parts.map(({ usingMetrics }) => usingMetrics)),
    period,
  });
}
