import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { commands } from '../../cli/commands.ts';
import { print, printLinks, writeResult } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { openStage } from '../../cli/stageStack.ts';
import { toQueryLinks } from './queryLinks.ts';
import { readStatus } from './readStatus.ts';
import { toStatusText } from './statusText.ts';
import { toRows } from './symptoms.ts';

export async function runStatus(options: OptionValues<typeof commands.status>): Promise<void> {
  const { stage } = options;
  const stack = await openStage(stage);
  const now = Date.now();
  const status = await readStatus(stack, now);
  const runbook = toRows(status);
  const queries = toQueryLinks(stage, await stack.open(CloudWatchLogsClient).config.region());
  const time = new Date(now).toISOString();
  const document = { stage: stage.name, time, ...status, runbook, queries };
  const text = toStatusText(stage, status, runbook, now, process.stdout.columns ?? 80);
  await writeResult(options, document, text);
  if (!options.json) {
    print('\nQUERIES of the last hour in Logs Insights');
    printLinks(queries);
  }
  const { alarms, live } = status;
  const isWhole =
    Object.values(status).every((part) => 'value' in part) &&
    'value' in live &&
    live.value.unread.length === 0;
  const isQuiet = 'value' in alarms && alarms.value.firing.length === 0;
  if (!isWhole || !isQuiet) process.exitCode = 1;
}
