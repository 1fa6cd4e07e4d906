import type { LogEvent } from './logEvents.ts';
import { type LoggedLine, parseLine } from './loggedLine.ts';

/** A line, with those of the errors behind it. */
export interface JoinedLine {
  readonly event: LogEvent;
  readonly line: LoggedLine;
  readonly errors: readonly JoinedLine[];
}

/** So many requests' errors wait for a line; those of requests that were not asked for wait in vain. */
const MOST_WAITING = 1_000;

/**
 * Puts the lines of errors, which a function logs just before the request's, to that line.
 * @param keepsRest whether errors that no request came for are lines of their own in the end
 */
export async function* joinErrors(
  events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
  keepsRest: boolean,
): AsyncGenerator<JoinedLine> {
  const waiting = new Map<string, JoinedLine[]>();
  for await (const event of events) {
    const line = parseLine(event);
    const id = line.message?.requestId ?? '';
    const errors = waiting.get(id) ?? [];
    if (id !== '' && line.message?.error) {
      waiting.set(id, [...errors, { event, line, errors: [] }]);
      const [oldest = ''] = waiting.keys();
      if (waiting.size > MOST_WAITING) waiting.delete(oldest);
    } else {
      waiting.delete(id);
      yield { event, line, errors };
    }
  }
  if (keepsRest) yield* [...waiting.values()].flat();
}
