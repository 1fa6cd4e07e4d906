import { setTimeout } from 'node:timers/promises';
import {
  type CloudWatchClient,
  GetMetricDataCommand,
  type Metric,
} from '@aws-sdk/client-cloudwatch';
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  StartQueryCommand,
  type StartQueryCommandInput,
} from '@aws-sdk/client-cloudwatch-logs';
import { ignoring } from '../../cli/stageStack.ts';

/** The fields of a row that are not empty. */
export type QueryRow = Readonly<Record<string, string>>;

/** The first polls come sooner; each waits twice as long as the one before. */
const FIRST_WAIT_MILLISECONDS = 25;
const MAX_WAIT_MILLISECONDS = 1_600;

/**
 * Runs a query of CloudWatch Logs Insights. If a log does not exist, as that of a function before its first deployment,
 * asks each of the others by itself, so that a name can be in several rows.
 * @throws {Error} when the query fails; or the signal's reason
 */
export async function runQuery(
  client: CloudWatchLogsClient,
  logGroupNames: string[],
  query: Omit<StartQueryCommandInput, 'logGroupNames'>,
  signal: AbortSignal,
): Promise<QueryRow[]> {
  const ask = (names: string[]) =>
    waitForRows(client, new StartQueryCommand({ ...query, logGroupNames: names }), signal);
  if (logGroupNames.length === 1) return ask(logGroupNames);
  const rows = await ignoring('ResourceNotFoundException', ask(logGroupNames));
  if (rows) return rows;
  const ofEach = logGroupNames.map((name) => ignoring('ResourceNotFoundException', ask([name])));
  return (await Promise.all(ofEach)).flatMap((found) => found ?? []);
}

async function waitForRows(
  client: CloudWatchLogsClient,
  query: StartQueryCommand,
  signal: AbortSignal,
): Promise<QueryRow[]> {
  const { queryId } = await client.send(query);
  for (let wait = FIRST_WAIT_MILLISECONDS; ; wait = Math.min(2 * wait, MAX_WAIT_MILLISECONDS)) {
    await setTimeout(wait, undefined, { signal });
    const response = await client.send(new GetQueryResultsCommand({ queryId }));
    const { status, results = [] } = response;
    if (status === 'Running' || status === 'Scheduled') continue;
    if (status !== 'Complete') {
      throw new Error(`The query of the logs did not complete (${status}). Run it again.`);
    }
    // A field that a line lacks can come without a value.
    return results.map((fields) =>
      Object.fromEntries(
        fields.flatMap(({ field, value }) => (field && value ? [[field, value]] : [])),
      ),
    );
  }
}

/** Insights leaves out a sum of nothing. */
export function toNumber(text: string | undefined): number {
  return Number(text) || 0;
}

interface NamedMetric extends Metric {
  readonly label: string;
  readonly statistic?: string;
}

/** The values of metrics in each part of the last hour that has data, by their labels. */
export async function readSums(
  client: CloudWatchClient,
  metrics: readonly NamedMetric[],
  now: number,
  partSeconds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const command = new GetMetricDataCommand({
    StartTime: new Date(now - 3_600_000),
    EndTime: new Date(now),
    MetricDataQueries: metrics.map(({ label, statistic: Stat = 'Sum', ...Metric }, index) => ({
      Id: `metric${index}`,
      Label: label,
      MetricStat: { Metric, Period: partSeconds, Stat },
    })),
  });
  const { MetricDataResults = [] } = await client.send(command);
  return new Map(MetricDataResults.map(({ Label = '', Values = [] }) => [Label, Values]));
}
