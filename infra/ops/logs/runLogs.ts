import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import { hideSecrets } from '../../cli/hideSecrets.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { brokenOutput, tell, writeOut } from '../../cli/output.ts';
import { readStack } from '../../cli/stageStack.ts';
import { UsageError } from '../../cli/usage.ts';
import { type Duration, duration } from '../../cli/values.ts';
import { findEvents, type LogOptions } from './findEvents.ts';
import { header, type JoinedLine, joinErrors, toText } from './requestText.ts';

/** One look can exceed the calls of an account, five a second: throttling is retried. */
const MAX_ATTEMPTS = 10;

/** Shows a stage's requests. @throws {Error} when one is not found, or the logs cannot be read */
export async function runLogs(options: LogOptions): Promise<void> {
  const { stage, request, key, status, follow, json } = options;
  if (request !== undefined && [key, status, follow].some((one) => one !== undefined)) {
    throw new UsageError('--request finds one request: leave out --key, --status and --follow.');
  }
  const usual = request !== undefined ? '1d' : follow ? '1m' : '1h';
  const since = options.since ?? (duration.parse(usual) as Duration);
  const from = Date.now() - since.milliseconds;
  const { open } = await readStack(stage);
  const client = open(CloudWatchLogsClient, { maxAttempts: MAX_ATTEMPTS });
  using interruption = listenForInterruption();
  // A reader that leaves, as head does, has seen enough.
  const signal = AbortSignal.any([interruption.signal, brokenOutput.signal]);
  let found = 0;
  try {
    const events = findEvents(client, options, from, signal);
    for await (const line of joinErrors(events, request !== undefined)) {
      signal.throwIfAborted();
      found += 1;
      const title = found === 1 && !json ? header : '';
      await writeOut(title + hideSecrets(json ? toJsonText(line) : toText(line)));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    // --follow has no other end.
    if (!follow) process.exitCode = interruption.status();
    return;
  }
  if (found > 0) return;
  if (!request) return tell(`There were no such requests in the last ${since.text}.`);
  throw new Error(
    `No log has this request in the last ${since.text}. Lines take some seconds to arrive; look further back with --since 7d.`,
  );
}

function toJsonText({ event, errors }: JoinedLine): string {
  return [...errors.map((error) => error.event), event].map(({ text }) => `${text}\n`).join('');
}
