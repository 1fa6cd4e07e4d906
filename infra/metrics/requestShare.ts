import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Stage } from '../stages/stages.ts';
import { toGatewayMetric } from './gatewayMetrics.ts';
import { period as usualPeriod } from './period.ts';

/**
 * The percentage of all requests that `metric` counts.
 * @param least as long as there are fewer, it is 0: a share of a few requests says little
 * @param period that of `metric` too
 */
export function toRequestShare(
  stage: Stage,
  label: string,
  metric: IMetric,
  least: number,
  period: Duration = usualPeriod,
): MathExpression {
  return new MathExpression({
    label,
    expression: `IF(counted >= ${least}, 100 * counted / requests, 0)`,
    usingMetrics: {
      counted: metric,
      requests: toGatewayMetric(stage, 'Count', { statistic: Stats.SUM, period }),
    },
    period,
  });
}
