import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { commands } from '../../cli/commands.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { brokenOutput, hideSecrets, tell, writeOut } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { type Duration, duration } from '../../cli/values.ts';
import { findEvents, type LogSearch } from './findEvents.ts';
import { header, type JoinedLine, joinErrors, toText } from './requestText.ts';

type LogOptions = OptionValues<typeof commands.logs>;

/** An account can call five times a second, and one look calls up to five times: throttling is retried. */
const MAX_ATTEMPTS = 10;

/** Shows a stage's requests. @throws {Error} when one is not found, or the logs cannot be read */
export async function runLogs(options: LogOptions): Promise<void> {
  const search = parseLogSearch(options);
  const { open } = await readStack(search.stage);
  const client = open(CloudWatchLogsClient, { maxAttempts: MAX_ATTEMPTS });
  using interruption = listenForInterruption();
  const { signal } = interruption;
  let found = 0;
  try {
    const isOne = search.request !== undefined;
    for await (const line of joinErrors(findEvents(client, search, signal), isOne)) {
      signal.throwIfAborted();
      found += 1;
      const title = found === 1 && !options.json ? header : '';
      await writeOut(title + hideSecrets(options.json ? toJsonText(line) : toText(line)));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    // --follow has no other end, and a reader that leaves has seen enough.
    if (search.follow || brokenOutput.signal.aborted) return;
    tell('Interrupted: there may be more.');
    process.exitCode = interruption.status();
    return;
  }
  if (found > 0) return;
  if (!options.request) return tell(`There were no such requests in the last ${search.since}.`);
  throw new Error(
    `No log has this request in the last ${search.since}. Lines take some seconds to arrive; look further back with --since 7d.`,
  );
}

function parseLogSearch(options: LogOptions): LogSearch {
  const { stage, request, key, status, follow = false } = options;
  if (request !== undefined && [key, status, options.follow].some((one) => one !== undefined)) {
    throw new UsageError('--request finds one request: leave out --key, --status and --follow.');
  }
  const usual = request !== undefined ? '1d' : follow ? '1m' : '1h';
  const since = options.since ?? (duration.parse(usual) as Duration);
  const from = Date.now() - since.milliseconds;
  return {
    stage,
    request,
    key,
    status,
    since: since.text,
    from,
    follow,
  };
}

function toJsonText({ event, errors }: JoinedLine): string {
  return [...errors.map((error) => error.event), event].map(({ text }) => `${text}\n`).join('');
}
