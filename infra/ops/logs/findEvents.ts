import { setTimeout } from 'node:timers/promises';
import {
  type CloudWatchLogsClient,
  paginateFilterLogEvents,
} from '@aws-sdk/client-cloudwatch-logs';
import { operationIds } from '../../../shared/contract/operations.ts';
import type { commands } from '../../cli/commands.ts';
import type { OptionValues } from '../../cli/program.ts';
import { toNames } from '../../stages/resourceNames.ts';
import { type LogEvent, type LogSource, parseLine } from './requestText.ts';

export type LogOptions = OptionValues<typeof commands.logs>;

/** The lines that the options ask for since a time, oldest first. @throws the signal's reason */
export async function* findEvents(
  client: CloudWatchLogsClient,
  options: LogOptions,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const { stage, request, key, follow } = options;
  const { accessLog, toFunctionLog } = toNames(stage);

  /** The matching lines of a log since a time, with a page of them in memory. */
  async function* readLog(source: LogSource, pattern: string, startTime: number) {
    const logGroupName = source === 'gateway' ? accessLog : toFunctionLog(source);
    const input = { logGroupName, filterPattern: `{ ${pattern} }`, startTime };
    // Sorted by time; a page can be empty and not be the last:
    // https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
    const pages = paginateFilterLogEvents({ client }, input, { abortSignal: signal });
    for await (const { events = [] } of pages) {
      for (const { eventId: id = '', timestamp: at = 0, message = '' } of events) {
        yield { id, at, source, text: message.trimEnd() };
      }
    }
  }

  /** The lines of all logs; of the gateway's only with a pattern. */
  function read(ofFunctions: string, ofGateway: string | undefined, since: number) {
    const logs = operationIds.map((id) => readLog(id, ofFunctions, since));
    if (ofGateway !== undefined) logs.push(readLog('gateway', ofGateway, since));
    return mergeByTime(logs);
  }

  if (request !== undefined) {
    const readAll = (pattern: string) => read(pattern, pattern, from);
    yield* await traceRequest((ids) => readAll(toTracePattern(ids)), request);
    return;
  }
  // The gateway knows no key.
  const ofGateway = key === undefined ? toGatewayPattern(options) : undefined;
  const readSince = (since: number) => read(toFunctionPattern(options), ofGateway, since);
  yield* follow ? followEvents(readSince, from, signal) : readSince(from);
}

/** How many ids one filter pattern has at most. A client may have sent its own id with more requests. */
const MAX_RELATED = 3;

/**
 * Every line of one request, oldest first: by the given id, and by the ids in the lines found with it. The
 * gateway's line has Lambda's id of the call, the only id in the log of a crash. A client's own id leads to
 * ours.
 */
async function traceRequest(
  read: (ids: readonly string[]) => AsyncIterable<LogEvent>,
  id: string,
): Promise<LogEvent[]> {
  const found = await Array.fromAsync(read([id]));
  const related = toRelated(found, id);
  if (related.length > 0) found.push(...(await Array.fromAsync(read(related))));
  const unique = new Map(found.map((event) => [event.id, event]));
  return [...unique.values()].sort((one, other) => one.at - other.at);
}

function toRelated(events: readonly LogEvent[], id: string): string[] {
  const lines = events.map(parseLine);
  if (lines.some(({ message }) => message?.operation && message.requestId === id)) return [];
  const ids = lines.flatMap((line) => [line.message?.requestId, line.functionRequestId]);
  // A line of release 1.2.0 has a client's path, whose quotes can forge an id.
  const further = ids.filter(
    (one): one is string => /^[\w-]{2,64}$/.test(String(one ?? '-')) && one !== id,
  );
  return [...new Set(further)].slice(0, MAX_RELATED);
}

/** One look calls once or more for each log, and the whole account can call five times a second. */
const POLL_MILLISECONDS = 2_500;

/**
 * How late a line may arrive, on any clock. Each look starts this long before the last one, and leaves out lines
 * that were seen.
 */
const LATE_MILLISECONDS = 60_000;

/** Every line since a time, and those that come, until the signal. @throws the signal's reason */
async function* followEvents(
  read: (from: number) => AsyncIterable<LogEvent>,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const seen = new Map<string, number>();
  let start = from;
  for (;;) {
    const began = Date.now();
    for await (const event of read(start)) {
      if (seen.has(event.id)) continue;
      seen.set(event.id, event.at);
      yield event;
    }
    start = Math.max(from, began - LATE_MILLISECONDS);
    for (const [id, at] of seen) if (at < start) seen.delete(id);
    await setTimeout(POLL_MILLISECONDS, undefined, { signal });
  }
}

/** Merges sorted lists. */
async function* mergeByTime(logs: readonly AsyncGenerator<LogEvent>[]): AsyncGenerator<LogEvent> {
  const heads = await Promise.all(logs.map(async (log) => ({ log, next: await log.next() })));
  for (;;) {
    const [first] = heads
      .filter(({ next }) => !next.done)
      .sort((one, other) => one.next.value.at - other.next.value.at);
    if (!first) return;
    yield first.next.value;
    first.next = await first.log.next();
  }
}

// CloudWatch's filter patterns for lines of JSON. Text in quotes was checked: only letters, digits and -._@.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntaxForMetricFilters.html

/** A function's line of each matching request, and errors that may belong to it. */
function toFunctionPattern({ key, status }: LogOptions): string {
  const isRequest = all([
    '$.message.operation = "*"',
    // A key that was refused is logged by its id alone.
    ...(key ? [any([equals('$.message.keyName', key), equals('$.message.keyId', key)])] : []),
    ...(status ? [`$.message.status >= ${status.from}`, `$.message.status <= ${status.to}`] : []),
  ]);
  const mayHaveErrors = status === undefined || status.to >= 500;
  return mayHaveErrors ? any([isRequest, '$.message.error.message = "*"']) : isRequest;
}

/**
 * The gateway's line of each matching request with a response of its own, such as 429, or one that a function
 * failed. Its values are text, or a dash.
 */
function toGatewayPattern({ status }: LogOptions): string {
  const text = status && (status.from === status.to ? `${status.from}` : `${status.from / 100}*`);
  return all([
    any(['$.gatewayError != "-"', '$.functionError != "-"']),
    ...(text === undefined ? [] : [equals('$.status', text)]),
  ]);
}

/** Every line of a request: by our id, the client's, or Lambda's id of the call. */
function toTracePattern(ids: readonly string[]): string {
  const fields = ['$.requestId', '$.message.requestId', '$.message.clientRequestId'];
  return any(
    ids.flatMap((id) => [
      ...fields.map((field) => equals(field, id)),
      all([equals('$.record.requestId', id), equals('$.type', 'platform.report')]),
    ]),
  );
}

function equals(field: string, text: string): string {
  return `${field} = "${text}"`;
}

function all(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' && ');
}

function any(conditions: readonly string[]): string {
  return conditions.map((condition) => `(${condition})`).join(' || ');
}
