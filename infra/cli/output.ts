import { constants } from 'node:os';

/**
 * Waits until the text is on the standard output, however slow its reader is.
 * @throws when it cannot be written
 */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Tells the person who runs the command, on the error output. */
export function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Rows for people: each on a line, columns as wide as they need be. */
export function toColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** To the minute, such as `2026-12-24 09:59Z`; a dash where there is none. */
export function toShortTime(time: string | undefined): string {
  return time ? `${time.slice(0, 16).replace('T', ' ')}Z` : '-';
}

const controller = new AbortController();

/** The state of the outputs that `watchOutput` watches. */
export const brokenOutput = {
  /** Aborted once one of them can no longer be written; its reason is the error, which has been reported by then. */
  signal: controller.signal,
  /** 0 until then; 141, as for what SIGPIPE ends, when the reader has left; 1 for a full disk and the like. */
  status: 0,
};

/** Ends in silence when the reader leaves, as `head` does, and reports a full disk in one line, in place of a stack. */
export function watchOutput(): void {
  // A process that runs several commands, as a test does, is not to collect listeners.
  process.stdout.off('error', breakOff).on('error', breakOff);
  process.stderr.off('error', breakOff).on('error', breakOff);
}

function breakOff(error: NodeJS.ErrnoException): void {
  if (controller.signal.aborted) return;
  brokenOutput.status = error.code === 'EPIPE' ? 128 + constants.signals.SIGPIPE : 1;
  process.exitCode ||= brokenOutput.status;
  controller.abort(error);
  if (error.code === 'EPIPE') return;
  process.stderr.write(
    `The standard output cannot be written (${error.message}), and what was to be read there is lost.\n`,
  );
}
