import { setTimeout } from 'node:timers/promises';
import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { toRegion } from '../../cli/stageOption.ts';
import { toFunctionPattern, toGatewayPattern, toTracePattern } from './filterPatterns.ts';
import { type LogEvent, type Patterns, readEvents, toPatterns } from './logEvents.ts';
import { type LoggedLine, parseLine } from './loggedLine.ts';
import type { LogSearch } from './logSearch.ts';

/** An account may ask five times a second, and one look asks up to five times: throttling is waited out. */
const MAX_ATTEMPTS = 10;

/** The lines that a search asks for, oldest first. @throws the signal's reason */
export async function* findEvents(
  search: LogSearch,
  signal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const { stage, request, key, from, follow } = search;
  const client = new CloudWatchLogsClient({ ...toRegion(stage), maxAttempts: MAX_ATTEMPTS });
  const read = (patterns: Patterns, since: number) =>
    readEvents(client, stage, patterns, since, signal);

  if (request !== undefined) {
    const readAll = (pattern: string) => read(toPatterns(pattern, pattern), from);
    yield* await traceRequest((ids) => readAll(toTracePattern(ids)), request);
    return;
  }
  // The gateway knows no key.
  const gateway = key === undefined ? toGatewayPattern(search) : undefined;
  const patterns = toPatterns(toFunctionPattern(search), gateway);
  if (follow) {
    yield* followEvents((since) => read(patterns, since), from, signal);
  } else {
    yield* read(patterns, from);
  }
}

/** As many further ids as one filter pattern can hold. A client may have sent its own id with more requests. */
const MAX_RELATED = 3;

/**
 * Every line of one request, oldest first: by the id that it is known by, and by those that the lines
 * found lead to. The gateway's line knows Lambda's id of the call, which is all that a crash is logged by;
 * a client's own id leads to ours.
 * @param read the lines of all logs that have one of these ids
 */
async function traceRequest(
  read: (ids: readonly string[]) => AsyncIterable<LogEvent>,
  id: string,
): Promise<LogEvent[]> {
  const found = await Array.fromAsync(read([id]));
  const related = toRelated(found.map(parseLine), id);
  if (related.length > 0) found.push(...(await Array.fromAsync(read(related))));
  const unique = new Map(found.map((event) => [event.id, event]));
  return [...unique.values()].sort((one, other) => one.at - other.at);
}

function toRelated(lines: readonly LoggedLine[], id: string): string[] {
  if (lines.some(({ message }) => message?.operation && message.requestId === id)) return [];
  const ids = lines.flatMap(({ message, functionRequestId }) => [
    message?.requestId,
    functionRequestId,
  ]);
  // A path with a quote in it can forge a field of the gateway's line.
  const further = ids.filter((one = '-') => /^[\w-]{2,64}$/.test(one) && one !== id);
  return [...new Set(further as string[])].slice(0, MAX_RELATED);
}

/** One look asks up to five times, and an account may ask five times a second, others included. */
const POLL_MILLISECONDS = 2_500;

/**
 * How long after its time a line may still arrive, by whatever clock: each look goes back as far behind
 * the one before, and leaves out what was seen.
 */
const LATE_MILLISECONDS = 60_000;

/**
 * Every line since a time, and those that come, until the signal.
 * @param read the lines since a time, oldest first
 * @throws the signal's reason
 */
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
