import {
  type CloudWatchClient,
  GetMetricDataCommand,
  type Metric,
} from '@aws-sdk/client-cloudwatch';

/** A metric of CloudWatch, with a name of ours. */
interface NamedMetric extends Metric {
  readonly label: string;
  /** By default its sum. */
  readonly statistic?: string;
}

/**
 * The values of metrics in each period that has data, by their labels.
 * @param range in milliseconds since the epoch
 */
export async function readSums(
  client: CloudWatchClient,
  metrics: readonly NamedMetric[],
  range: { readonly from: number; readonly end: number },
  periodSeconds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const command = new GetMetricDataCommand({
    StartTime: new Date(range.from),
    EndTime: new Date(range.end),
    MetricDataQueries: metrics.map(({ label, statistic: Stat = 'Sum', ...Metric }, index) => ({
      Id: `metric${index}`,
      Label: label,
      MetricStat: { Metric, Period: periodSeconds, Stat },
    })),
  });
  const { MetricDataResults = [] } = await client.send(command);
  return new Map(MetricDataResults.map(({ Label = '', Values = [] }) => [Label, Values]));
}
