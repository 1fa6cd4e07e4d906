import { setTimeout } from 'node:timers/promises';
import { isOutage } from '../../../shared/runtime/isOutage.ts';
import { toTime } from '../../cli/progress.ts';

const LINE_MILLISECONDS = 60_000;

/** What a table answers to while something else is being done to it. */
const passing = ['ResourceInUseException', 'ContinuousBackupsUnavailableException'];

export interface Patience {
  readonly pollMilliseconds: number;
  readonly signal: AbortSignal;
}

/**
 * Tries until it is done, however long that takes, and says now and then that it still does: a large
 * table is restored for hours, and its backups are not to be had at once.
 * @throws what is not an outage, or the signal's reason
 */
export async function waitUntil(
  what: string,
  isDone: () => Promise<boolean>,
  { pollMilliseconds, signal }: Patience,
): Promise<void> {
  const started = performance.now();
  let told = started;
  for (;;) {
    let trouble = '';
    try {
      signal.throwIfAborted();
      if (await isDone()) return;
    } catch (error) {
      const { name } = error as Error;
      if (!isOutage(error) && !passing.includes(name)) throw error;
      trouble = ` (${name})`;
    }
    const now = performance.now();
    if (now - told >= LINE_MILLISECONDS) {
      told = now;
      process.stderr.write(`${what}: ${toTime((now - started) / 1_000)} so far${trouble}.\n`);
    }
    await setTimeout(pollMilliseconds, undefined, { signal });
  }
}
