import { FilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import { logMetrics, toLogMetricName, versionDimension } from '../metrics/logMetrics.ts';
import { toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** Counts what alarms look at from an operation's request lines. */
export function defineLogMetricFilters(
  scope: Construct,
  stage: Stage,
  operationId: OperationId,
  logGroup: ILogGroup,
): void {
  const toProps = (name: keyof typeof logMetrics) => ({
    logGroup,
    metricNamespace: toStackName(stage),
    metricName: toLogMetricName(operationId, name),
    metricValue: logMetrics[name].value,
  });
  if (operations[operationId].streamed) {
    new MetricFilter(scope, `${operationId}FirstByteFilter`, {
      ...toProps('firstByte'),
      filterPattern: FilterPattern.numberValue(logMetrics.firstByte.value, '>=', 0),
    });
  }
  const isServerError = FilterPattern.numberValue('$.message.status', '>=', 500);
  new MetricFilter(scope, `${operationId}ServerErrorFilter`, {
    ...toProps('serverErrors'),
    filterPattern: isServerError,
  });
  new MetricFilter(scope, `${operationId}VersionErrorFilter`, {
    ...toProps('serverErrors'),
    filterPattern: isServerError,
    dimensions: { [versionDimension]: '$.message.version' },
  });
}
