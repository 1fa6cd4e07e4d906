import { type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { toGatewayMetric } from './gatewayMetrics.ts';
import type { StageName } from './stages.ts';
import { alarmPeriod } from './watchAlarm.ts';

/**
 * The percentage of all requests that `metric` counts.
 * @param least as long as there are fewer, it is 0: a share of a few requests says little
 */
export function toRequestShare(
  stage: StageName,
  label: string,
  metric: IMetric,
  least: number,
): MathExpression {
  return new MathExpression({
    label,
    expression: `IF(counted >= ${least}, 100 * counted / requests, 0)`,
    usingMetrics: {
      counted: metric,
      requests: toGatewayMetric(stage, 'Count', { statistic: Stats.SUM, period: alarmPeriod }),
    },
    period: alarmPeriod,
  });
}
