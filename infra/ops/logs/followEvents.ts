import { setTimeout } from 'node:timers/promises';
import type { LogEvent } from './logEvents.ts';

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
export async function* followEvents(
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
