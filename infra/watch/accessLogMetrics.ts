import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { period } from '../metrics/period.ts';
import { toAccessLogName, toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** The refusals that tell abuse and throttling, counted from the access log: the gateway's own metrics lump all 4xx together. */
const statuses = { unauthorized: '401', forbidden: '403', throttled: '429' } as const;

/** Requests refused for each reason; a metric costs nothing in a month without such a request. */
export type RefusalMetrics = Record<keyof typeof statuses, Metric>;

/**
 * Of answers as large as this the access log's bytes are summed up: a custom metric costs $0.30 a month, of which
 * the hours count in which it has a value, and the scheduled check's small answers would give it one in every hour.
 */
const LARGE_ANSWER = 1_024;

/** Has the access log counted: the refusals, and the bytes of large answers. */
export function defineAccessLogMetrics(scope: Construct, stage: Stage): RefusalMetrics {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toAccessLogName(stage));
  new MetricFilter(scope, 'SentBytesFilter', {
    logGroup,
    filterPattern: FilterPattern.numberValue('$.bytes', '>=', LARGE_ANSWER),
    metricNamespace: toStackName(stage),
    metricName: 'sentBytes',
    metricValue: '$.bytes',
  });
  const defineMetric = (reason: keyof typeof statuses) =>
    new MetricFilter(scope, `${reason}Filter`, {
      logGroup,
      // Texts, as all values of the access log but the bytes.
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
