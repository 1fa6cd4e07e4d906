import type { LogEvent } from './logEvents.ts';
import { type LoggedLine, parseLine } from './loggedLine.ts';

/** As many further ids as one filter pattern can hold. A client may have sent its own id with more requests. */
const MOST_RELATED = 3;

/**
 * Every line of one request, oldest first: by the id that it is known by, and by those that the lines
 * found lead to. The gateway's line knows Lambda's id of the call, which is all that a crash is logged by;
 * a client's own id leads to ours.
 * @param read the lines of all logs that have one of these ids
 */
export async function traceRequest(
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
  return [...new Set(further as string[])].slice(0, MOST_RELATED);
}
