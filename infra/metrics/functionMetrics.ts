import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { OperationId } from '../../shared/contract/operations.ts';
import { toFunctionName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** A metric that Lambda keeps of a function, all of its versions together. */
export function toFunctionMetric(
  stage: Stage,
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
