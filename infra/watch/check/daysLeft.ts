import { operationIds, operations } from '../../../shared/contract/operations.ts';

/** What ends, and is to be seen before it does. */
export const ends = ['certificate', 'key', 'sunset'] as const;
export type End = (typeof ends)[number];

/** The custom metric that holds the days that are left. */
export function toDaysMetricName(end: End): string {
  return `${end}Days`;
}

/**
 * A log line that CloudWatch makes metrics of: the days until each end.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function toDaysLine(
  namespace: string,
  dates: Readonly<Partial<Record<End, Date | undefined>>>,
  now: number,
): string {
  const days = ends.flatMap((end) => {
    const date = dates[end];
    return date ? [[toDaysMetricName(end), (date.getTime() - now) / 86_400_000] as const] : [];
  });
  const Metrics = days.map(([Name]) => ({ Name }));
  const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [[]], Metrics }];
  return JSON.stringify({
    _aws: { Timestamp: now, CloudWatchMetrics },
    ...Object.fromEntries(days),
  });
}

/** When the first deprecated operation may go; nothing, when none is deprecated. */
export function findFirstSunset(): Date | undefined {
  const sunsets = operationIds.flatMap((id) => {
    const { lifecycle } = operations[id];
    return lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [];
  });
  return sunsets.length === 0 ? undefined : new Date(Math.min(...sunsets));
}
