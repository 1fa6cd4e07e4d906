import { constants } from 'node:os';
import { toErrorLine } from './errorLine.ts';
import { log } from './output.ts';

/** An invalid command line: one line on the error output, and status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Command = (args: string[]) => Promise<void>;

/**
 * Runs a command. The status is 0, 2 for a usage error, 1 with one line for any other error, or 141 if its reader
 * has left. Never prints a stack trace.
 */
export async function runCommand(
  command: Command,
  args: string[] = process.argv.slice(2),
): Promise<void> {
  for (const output of [process.stdout, process.stderr]) {
    // A process that runs several commands, as a test does, must not collect listeners.
    output.off('error', breakOff).on('error', breakOff);
  }
  try {
    await command(args);
  } catch (error) {
    if (error !== broken?.error) {
      log(toErrorLine(error));
      process.exitCode = error instanceof UsageError ? 2 : 1;
    }
  }
  process.exitCode ||= broken?.status;
}

/** The first error of an output, which was reported, and the exit status that it gives. */
let broken: { readonly error: Error; readonly status: number } | undefined;

/** Ends silently if the reader leaves, as `head` does, and reports a full disk in one line. */
function breakOff(error: NodeJS.ErrnoException): void {
  if (broken) return;
  const hasLeft = error.code === 'EPIPE';
  broken = { error, status: hasLeft ? 128 + constants.signals.SIGPIPE : 1 };
  process.exitCode ||= broken.status;
  if (hasLeft) return;
  log(`The standard output cannot be written (${error.message}), and the rest of it is lost.`);
}
