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

export function defineRefusalMetrics(scope: Construct, stage: Stage): RefusalMetrics {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toAccessLogName(stage));
  const defineMetric = (reason: keyof typeof statuses) =>
    new MetricFilter(scope, `${reason}Filter`, {
      logGroup,
      // The access log's values are all texts.
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
