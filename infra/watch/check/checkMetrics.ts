/** What expires, and must be noticed before it does. */
export const ends = ['certificate', 'key'] as const;
export type End = (typeof ends)[number];

/** Days before the end when the metric starts. A custom metric costs nothing in hours without a value. */
export const DAYS_AHEAD = 30;

/** The custom metric with the number of days left. */
export function toDaysMetricName(end: End): string {
  return `${end}Days`;
}

/** What the check counts, by the name of its custom metric. */
export interface CheckCounts {
  /** Operations that responded with 429. The check shares the throttles with the clients. */
  readonly checkThrottled: number;
  /** Entries of the inventory beyond the stage's inventoryEntries. */
  readonly surplusEntries: number;
}

/**
 * A log line that CloudWatch turns into metrics: the days until each near end, and the counts. Without any of them,
 * `undefined`.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function toMetricsLine(
  namespace: string,
  dates: Readonly<Partial<Record<End, Date | undefined>>>,
  counts: CheckCounts,
  now: number,
): string | undefined {
  const values = new Map<string, number>();
  for (const end of ends) {
    const days = (Number(dates[end]) - now) / 86_400_000;
    if (days <= DAYS_AHEAD) values.set(toDaysMetricName(end), days);
  }
  for (const [name, count] of Object.entries(counts)) if (count > 0) values.set(name, count);
  if (values.size === 0) return undefined;
  const Metrics = [...values.keys()].map((Name) => ({ Name }));
  const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [[]], Metrics }];
  return JSON.stringify({
    _aws: { Timestamp: now, CloudWatchMetrics },
    ...Object.fromEntries(values),
  });
}
