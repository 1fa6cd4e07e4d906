import {
  type CloudWatchLogsClient,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toAccessLogName, toFunctionLogName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';

/** Who wrote a line. */
export type LogSource = OperationId | 'gateway';

export interface LogEvent {
  /** Of this event alone, and the same each time it is read. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly source: LogSource;
  /** The line, without its end. */
  readonly text: string;
}

/** The pattern that each log is read by; one without a pattern is not read. */
export type Patterns = Readonly<Partial<Record<LogSource, string>>>;

/** The same pattern for every function, and the gateway's, if it is to be read. */
export function toPatterns(functions: string, gateway: string | undefined): Patterns {
  const entries = operationIds.map((id) => [id, functions] as const);
  return { ...Object.fromEntries(entries), ...(gateway && { gateway }) };
}

/**
 * The matching lines of a stage's logs since a time, oldest first, a page of each log in memory.
 * @throws {Error} when a log is not there
 */
export async function* readEvents(
  client: CloudWatchLogsClient,
  stage: Stage,
  patterns: Patterns,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const logs = (Object.entries(patterns) as [LogSource, string][]).map(([source, pattern]) =>
    readLog(client, stage, source, pattern, from, signal),
  );
  yield* mergeByTime(logs);
}

async function* readLog(
  client: CloudWatchLogsClient,
  stage: Stage,
  source: LogSource,
  filterPattern: string,
  startTime: number,
  abortSignal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const logGroupName =
    source === 'gateway' ? toAccessLogName(stage) : toFunctionLogName(stage, source);
  const input = { logGroupName, filterPattern, startTime };
  try {
    // Sorted by time; a page can be empty and not be the last:
    // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
    for await (const { events = [] } of paginateFilterLogEvents({ client }, input, {
      abortSignal,
    })) {
      for (const { eventId = '', timestamp = 0, message = '' } of events) {
        yield { id: eventId, at: timestamp, source, text: message.trimEnd() };
      }
    }
  } catch (error) {
    if ((error as Error).name !== 'ResourceNotFoundException') throw error;
    throw new Error(
      `There is no log ${logGroupName} in ${await client.config.region()}: deploy the stage, or look in its region.`,
    );
  }
}

/** Of sorted lists, always the earliest of what comes next. */
async function* mergeByTime(logs: readonly AsyncGenerator<LogEvent>[]): AsyncGenerator<LogEvent> {
  const next = await Promise.all(logs.map((log) => log.next()));
  for (;;) {
    let first = -1;
    let event: LogEvent | undefined;
    for (const [index, { done, value }] of next.entries()) {
      if (!done && (!event || value.at < event.at)) [first, event] = [index, value];
    }
    const log = logs[first];
    if (!event || !log) return;
    yield event;
    next[first] = await log.next();
  }
}
