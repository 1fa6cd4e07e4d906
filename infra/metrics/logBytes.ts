import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/** The bytes that a log is billed by, as CloudWatch Logs counts them. */
export function toIncomingBytes(logGroupName: string, options: MetricOptions): Metric {
  return new Metric({
    namespace: 'AWS/Logs',
    metricName: 'IncomingBytes',
    dimensionsMap: { LogGroupName: logGroupName },
    ...options,
  });
}

/**
 * The bodies of answers as the access log has their bytes, of those that are as large as `LARGE_ANSWER`: a custom
 * metric costs $0.30 a month, of which the hours count in which it has a value, and the scheduled check's small
 * answers would give it one in every hour.
 */
export const sentBytes = { name: 'sentBytes', value: '$.bytes' } as const;
export const LARGE_ANSWER = 1_024;

export function toSentBytes(stage: Stage, options: MetricOptions): Metric {
  return new Metric({
    namespace: toStackName(stage),
    metricName: sentBytes.name,
    ...options,
  });
}
