import { isParseFailure, toErrorLine } from './errorLine.ts';
import { brokenOutput, watchOutput } from './output.ts';

/** What was typed makes no sense: one line on the error output, and status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Command = (args: string[]) => Promise<void>;

/**
 * Runs a command line to its end: status 0, or 2 for a usage error, or 1 with one line for any other
 * failure, or 141 when its reader has left. Never a stack: ops read what went wrong, not where.
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
      process.stderr.write(`${toErrorLine(error)}\n`);
      process.exitCode = error instanceof UsageError || isParseFailure(error) ? 2 : 1;
    }
  }
  process.exitCode ||= brokenOutput.status;
}
