import { toAwsLine } from './awsFailure.ts';
import { toNetworkLine } from './networkFailure.ts';

/** What went wrong, in one line, and what to do next where that is known. */
export function toErrorLine(error: unknown): string {
  const line =
    toParseLine(error) ??
    toAwsLine(error) ??
    toNetworkLine(error) ??
    toFullDiskLine(error) ??
    toNameAndMessage(error as Error);
  return line.replace(/\s*\n\s*/g, ' ');
}

/** Whether node:util's parseArgs threw it, at an option that it does not know and the like. */
export function isParseFailure(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}

function toParseLine(error: unknown): string | undefined {
  if (!isParseFailure(error)) return undefined;
  const [, option] = /^Option '([^']+)' argument is ambiguous/.exec((error as Error).message) ?? [];
  if (option)
    return `${option} needs a value; one that begins with a dash is ${option}=-…. See --help.`;
  // What follows the first sentence explains parseArgs, not this command.
  return `${(error as Error).message.split(/\. |\n/)[0]}. See --help.`;
}

/** SQLite sorts, and tells ids apart, in files of its own: https://www.sqlite.org/tempfiles.html */
function toFullDiskLine(error: unknown): string | undefined {
  if ((error as Error).message !== 'database or disk is full') return undefined;
  return 'The folder for temporary files is full: export SQLITE_TMPDIR=FOLDER, one with more space, and run the same command again.';
}

/** Names that tell no more than their message. */
const plainNames = ['UsageError', 'Error', 'TypeError'];

function toNameAndMessage({ name, message }: Error): string {
  const prefix = plainNames.includes(name) ? '' : `${name}: `;
  return prefix + (message || 'no further description');
}
