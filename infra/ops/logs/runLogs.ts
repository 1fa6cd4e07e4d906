import { parseArgs } from 'node:util';
import { listenForInterruption } from '../../cli/interruption.ts';
import { brokenOutput, writeOut } from '../../cli/output.ts';
import { stageUsage } from '../../cli/stageOption.ts';
import { findEvents } from './findEvents.ts';
import type { LogEvent } from './logEvents.ts';
import { type JoinedLine, joinErrors } from './loggedLine.ts';
import { type LogSearch, parseLogSearch } from './logSearch.ts';
import { defineRequestText } from './requestText.ts';

const help = `npm run logs -- ${stageUsage} [options]

Shows the requests that a stage answered, oldest first: time, operation, status, milliseconds, request
units (r read, w written), key, commit and X-Request-Id, with what went wrong beneath. What the gateway
answered itself, such as 429, is among them.

  --request ID         all that is known of one request, by its X-Request-Id, ours or the client's
  --key NAME           the requests of one key, by its name or key id
  --status 404|5xx     the requests that were answered so
  --since 30m|1h|2d    how far to look back: 1h, or 1d for --request, or 1m for --follow
  --follow             goes on with the requests that come, until Ctrl-C
  --json               the lines as they were logged, for a machine to read
`;

const flags = {
  stage: { type: 'string' },
  request: { type: 'string' },
  key: { type: 'string' },
  status: { type: 'string' },
  since: { type: 'string' },
  follow: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Shows a stage's requests.
 * @throws {UsageError} when what was typed makes no sense
 * @throws {Error} when a request is not found, or the logs cannot be read
 */
export async function runLogs(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: flags }).values;
  if (options.help) {
    process.stdout.write(help);
    return;
  }
  const search = parseLogSearch(options);
  using interruption = listenForInterruption();
  const { signal } = interruption;
  try {
    const found = await print(search, findEvents(search, signal), signal);
    if (found === 0) tellNothing(search);
  } catch (error) {
    if (!signal.aborted) throw error;
    // Following has no other end, and a reader that leaves has seen enough.
    if (search.follow || brokenOutput.signal.aborted) return;
    process.stderr.write('Interrupted: there may be more.\n');
    process.exitCode = interruption.status();
  }
}

/** @returns how many lines there were */
async function print(
  { request, json }: LogSearch,
  events: AsyncIterable<LogEvent>,
  signal: AbortSignal,
): Promise<number> {
  const toText = json ? toJsonText : defineRequestText();
  let found = 0;
  for await (const line of joinErrors(events, request !== undefined)) {
    signal.throwIfAborted();
    found += 1;
    await writeOut(hideSecrets(toText(line)));
  }
  return found;
}

function toJsonText({ event, errors }: JoinedLine): string {
  return [...errors.map((error) => error.event), event].map(({ text }) => `${text}\n`).join('');
}

/** @throws {Error} where one request was looked for */
function tellNothing({ request, since }: LogSearch): void {
  if (request === undefined) {
    process.stderr.write(`There were no such requests in the last ${since}.\n`);
    return;
  }
  throw new Error(
    `No log has the request ${hideSecrets(request)} in the last ${since}. Lines take some seconds to arrive; look further back with --since 7d.`,
  );
}

/**
 * Whole API keys lose all but their key id. None is logged on purpose, but a client can send one in the
 * path, or as its X-Request-Id.
 */
function hideSecrets(text: string): string {
  return text.replace(/psk_([0-9A-Za-z]{10})[0-9A-Za-z]{32}/g, 'psk_$1…');
}
