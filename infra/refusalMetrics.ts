import { type Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { toAccessLogName } from './resourceNames.ts';
import { type StageName, toStackName } from './stages.ts';
import { alarmPeriod } from './watchAlarm.ts';

/** The refusals that tell abuse and throttling, counted from the access log: the gateway's own metrics lump all 4xx together. */
const statuses = { unauthorized: '401', forbidden: '403', throttled: '429' } as const;

/** Requests refused for each reason; a metric costs nothing in a month without such a request. */
export type RefusalMetrics = Record<keyof typeof statuses, Metric>;

export function defineRefusalMetrics(scope: Construct, stage: StageName): RefusalMetrics {
  const logGroup = LogGroup.fromLogGroupName(scope, 'AccessLogs', toAccessLogName(stage));
  const defineMetric = (reason: keyof typeof statuses) =>
    new MetricFilter(scope, `${reason}Filter`, {
      logGroup,
      // The access log's values are all texts.
      filterPattern: FilterPattern.stringValue('$.status', '=', statuses[reason]),
      metricNamespace: toStackName(stage),
      metricName: reason,
      metricValue: '1',
    }).metric({ statistic: Stats.SUM, period: alarmPeriod });
  return {
    unauthorized: defineMetric('unauthorized'),
    forbidden: defineMetric('forbidden'),
    throttled: defineMetric('throttled'),
  };
}
