import type { Template } from 'aws-cdk-lib/assertions';
import type { CfnResource, StageTemplates } from '../../support/stackTemplates.ts';

/** The properties of a deployment's resources of a type. */
export function findProperties({ service, watch }: StageTemplates, type: string) {
  const find = (template: Template) =>
    Object.values(template.findResources(type) as Record<string, CfnResource>);
  return [service, watch].flatMap(find).map(({ Properties }) => Properties);
}

/**
 * The metrics in a stage's templates that AWS bills by the month. A custom metric of the logs counts as if each hour had
 * a value.
 */
export function countMetrics(stage: StageTemplates) {
  const counted = findProperties(stage, 'AWS::Logs::MetricFilter')
    .flatMap((one) => one.MetricTransformations)
    .map(({ MetricName, Dimensions }) => `${MetricName} ${Dimensions?.[0].Key}`);
  const count = ({ Metrics }: CfnResource['Properties']): number =>
    Metrics?.filter((metric: { MetricStat?: unknown }) => metric.MetricStat).length ?? 1;
  const alarms = findProperties(stage, 'AWS::CloudWatch::Alarm').map(count);
  const alarmMetrics = alarms.reduce((total, one) => total + one, 0);
  const compositeAlarms = findProperties(stage, 'AWS::CloudWatch::CompositeAlarm').length;
  return { alarmMetrics, compositeAlarms, customMetrics: new Set(counted).size };
}
