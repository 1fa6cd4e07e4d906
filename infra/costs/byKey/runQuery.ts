import { setTimeout } from 'node:timers/promises';
import {
  type CloudWatchLogsClient,
  GetQueryResultsCommand,
  type ResultField,
  StartQueryCommand,
  StopQueryCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import type { DayRange } from './dayRange.ts';

/** A question to some logs, in the language of CloudWatch Logs Insights. */
export interface Query {
  readonly logGroupNames: readonly string[];
  readonly days: DayRange;
  readonly lines: readonly string[];
}

/** The fields of a row that there is something in. */
export type QueryRow = Readonly<Record<string, string>>;

/** So many rows a query answers with at most: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_StartQuery.html */
export const MOST_ROWS = 10_000;
/** It is asked after less at first, and then each time after twice as long. */
const FIRST_WAIT_MILLISECONDS = 100;
const LONGEST_WAIT_MILLISECONDS = 1_600;

/**
 * Runs a query to its end; on the signal it is stopped, so that it is billed for no more than it has read.
 * @throws {Error} when it fails, or a log is not there
 */
export async function runQuery(
  client: CloudWatchLogsClient,
  query: Query,
  signal: AbortSignal,
): Promise<QueryRow[]> {
  signal.throwIfAborted();
  const queryId = await startQuery(client, query);
  try {
    for (
      let wait = FIRST_WAIT_MILLISECONDS;
      ;
      wait = Math.min(2 * wait, LONGEST_WAIT_MILLISECONDS)
    ) {
      await setTimeout(wait, undefined, { signal });
      const command = new GetQueryResultsCommand({ queryId });
      const { status, results = [] } = await client.send(command, { abortSignal: signal });
      if (status === 'Complete') return results.map(toRow);
      if (status !== 'Running' && status !== 'Scheduled') {
        throw new Error(`The query of the logs came to no end (${status}): ask for fewer days.`);
      }
    }
  } catch (error) {
    // One that has ended by itself cannot be stopped.
    if (signal.aborted) await client.send(new StopQueryCommand({ queryId })).catch(() => {});
    throw error;
  }
}

async function startQuery(
  client: CloudWatchLogsClient,
  { logGroupNames, days, lines }: Query,
): Promise<string | undefined> {
  const command = new StartQueryCommand({
    logGroupNames: [...logGroupNames],
    // In seconds, both ends included.
    startTime: days.from / 1000,
    endTime: days.end / 1000 - 1,
    queryString: lines.join('\n| '),
    limit: MOST_ROWS,
  });
  try {
    return (await client.send(command)).queryId;
  } catch (error) {
    if ((error as Error).name !== 'ResourceNotFoundException') throw error;
    throw new Error(
      `One of the logs ${logGroupNames.join(', ')} is not in ${await client.config.region()}: deploy the stage, or look in its region.`,
    );
  }
}

function toRow(fields: readonly ResultField[]): QueryRow {
  return Object.fromEntries(fields.map(({ field = '', value = '' }) => [field, value]));
}
