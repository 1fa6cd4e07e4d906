import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { OperationId } from '../../shared/contract/operations.ts';
import { toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** How the metric of an operation that streams its answers is named; its log is what it is read from. */
export function toFirstByteMetricName(operationId: OperationId) {
  return { metricName: `${operationId}FirstByte`, field: '$.message.firstByteMilliseconds' };
}

/**
 * Milliseconds from a request to the first byte of a streamed answer: how long the whole answer takes says
 * more of its length and its client than of the service.
 */
export function toFirstByteMetric(
  stage: Stage,
  operationId: OperationId,
  options: MetricOptions,
): Metric {
  const { metricName } = toFirstByteMetricName(operationId);
  return new Metric({ namespace: toStackName(stage), metricName, ...options });
}
