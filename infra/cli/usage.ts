import { toErrorLine } from './errorLine.ts';
import { brokenOutput, log, watchOutput } from './output.ts';

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
  watchOutput();
  try {
    await command(args);
  } catch (error) {
    if (error !== brokenOutput.signal.reason) {
      log(toErrorLine(error));
      process.exitCode = error instanceof UsageError ? 2 : 1;
    }
  }
  process.exitCode ||= brokenOutput.status;
}
