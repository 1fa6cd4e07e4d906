/** What expires, and must be replaced before it does. */
export type Expiring = 'certificate' | 'key';

/** Days before it expires when the metric starts. A custom metric costs nothing in hours without a value. */
export const DAYS_AHEAD = 30;

/** The custom metric with the number of days left. */
export function toDaysMetricName(what: Expiring): string {
  return `${what}Days`;
}

/** What the check counts, by the name of its custom metric. */
export interface CheckCounts {
  /** Operations that responded with 429. The check shares the throttles with the clients. */
  readonly checkThrottled: number;
}

/**
 * A log line that CloudWatch turns into metrics: the days left of what expires soon, and the counts. `undefined` without
 * any of them.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function formatMetrics(
  namespace: string,
  dates: Readonly<Record<Expiring, Date | undefined>>,
  counts: CheckCounts,
  now: number,
): string | undefined {
  const days = Object.entries(dates).map(
    ([what, date]) =>
      [toDaysMetricName(what as Expiring), (Number(date) - now) / 86_400_000] as const,
  );
  const values = [
    ...days.filter(([, left]) => left <= DAYS_AHEAD),
    ...Object.entries(counts).filter(([, count]) => count > 0),
  ];
  if (values.length === 0) return undefined;
  const Metrics = values.map(([Name]) => ({ Name }));
  const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [[]], Metrics }];
  const _aws = { Timestamp: now, CloudWatchMetrics };
  return JSON.stringify({ _aws, ...Object.fromEntries(values) });
}
