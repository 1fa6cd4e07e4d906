import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { toRegion } from '../../cli/stageOption.ts';
import { toFunctionPattern, toGatewayPattern, toTracePattern } from './filterPatterns.ts';
import { followEvents } from './followEvents.ts';
import { type LogEvent, type Patterns, readEvents, toPatterns } from './logEvents.ts';
import type { LogSearch } from './logSearch.ts';
import { traceRequest } from './traceRequest.ts';

/** An account may ask five times a second, and one look asks up to five times: throttling is waited out. */
const MOST_ATTEMPTS = 10;

/** The lines that a search asks for, oldest first. @throws the signal's reason */
export async function* findEvents(
  search: LogSearch,
  signal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const { stage, request, key, from, follow } = search;
  const client = new CloudWatchLogsClient({ ...toRegion(stage), maxAttempts: MOST_ATTEMPTS });
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
