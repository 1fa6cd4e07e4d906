import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import type { Stage } from '../stages/stages.ts';
import { toFunctionMetric } from './functionMetrics.ts';
import { toLogMetric } from './logMetrics.ts';

/** How long an operation's calls take; of a streamed list, until its first byte: a long list is not slow. */
export function toLatencyMetric(stage: Stage, id: OperationId, options: MetricOptions): Metric {
  return operations[id].streamed
    ? toLogMetric(stage, id, 'firstByte', options)
    : toFunctionMetric(stage, id, 'Duration', options);
}
