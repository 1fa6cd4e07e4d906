import { type CloudWatchClient, paginateGetMetricData } from '@aws-sdk/client-cloudwatch';
import { DAY_MILLISECONDS, type DayRange } from './dayRange.ts';

/** The bytes that came into each log in those days: what its lines are billed by, and a query that reads them. */
export type LogVolume = ReadonlyMap<string, number>;

/** @returns the bytes by name of the log; 0 where CloudWatch knows of none */
export async function readLogVolume(
  client: CloudWatchClient,
  logGroupNames: readonly string[],
  { from, end }: DayRange,
  abortSignal: AbortSignal,
): Promise<LogVolume> {
  const volume = new Map(logGroupNames.map((name) => [name, 0]));
  const input = {
    StartTime: new Date(from),
    EndTime: new Date(end),
    MetricDataQueries: logGroupNames.map((name, index) => ({
      Id: `log${index}`,
      Label: name,
      MetricStat: {
        Metric: {
          Namespace: 'AWS/Logs',
          MetricName: 'IncomingBytes',
          Dimensions: [{ Name: 'LogGroupName', Value: name }],
        },
        Period: DAY_MILLISECONDS / 1000,
        Stat: 'Sum',
      },
    })),
  };
  for await (const page of paginateGetMetricData({ client }, input, { abortSignal })) {
    for (const { Label = '', Values = [] } of page.MetricDataResults ?? []) {
      const sum = Values.reduce((total, value) => total + value, 0);
      volume.set(Label, (volume.get(Label) ?? 0) + sum);
    }
  }
  return volume;
}

export function sumBytes(volumes: readonly LogVolume[]): number {
  return volumes.flatMap((volume) => [...volume.values()]).reduce((sum, one) => sum + one, 0);
}
