/** The check's custom metrics. Each costs nothing in hours without a value. */
export interface CheckMetrics {
  /** The days left, once they are at most `DAYS_AHEAD`. */
  readonly certificateDays: number | undefined;
  readonly keyDays: number | undefined;
  /** Operations that responded with 429. The check shares the throttles with the clients. */
  readonly checkThrottled: number | undefined;
}

export const DAYS_AHEAD = 30;

/**
 * A log line that CloudWatch turns into metrics; `undefined` without any.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function formatMetrics(namespace: string, metrics: CheckMetrics): string | undefined {
  const names = Object.entries(metrics).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (names.length === 0) return undefined;
  const Metrics = names.map((Name) => ({ Name }));
  const CloudWatchMetrics = [{ Namespace: namespace, Dimensions: [[]], Metrics }];
  return JSON.stringify({ _aws: { Timestamp: Date.now(), CloudWatchMetrics }, ...metrics });
}
