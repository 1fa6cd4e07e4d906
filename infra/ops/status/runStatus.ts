import { CloudWatchLogsClient } from '@aws-sdk/client-cloudwatch-logs';
import type { commands } from '../../cli/commands.ts';
import { print, printLinks, writeResult } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { openStage } from '../../cli/stageStack.ts';
import { logQueries, toSavedQuery } from '../../deploy/watch/logQueries.ts';
import type { Stage } from '../../stages/stages.ts';
import { readStatus } from './readStatus.ts';
import { toRowsText, toStatusText } from './statusText.ts';
import { findRows } from './symptoms.ts';

export async function runStatus(options: OptionValues<typeof commands.status>): Promise<void> {
  const { stage } = options;
  const stack = await openStage(stage);
  const now = Date.now();
  const status = await readStatus(stack, now);
  const runbook = findRows(stage, status);
  const queries = linkQueries(stage, await stack.open(CloudWatchLogsClient).config.region());
  const time = new Date(now).toISOString();
  const document = { stage: stage.name, time, ...status, runbook, queries };
  const text = toStatusText(stage, status, now, process.stdout.columns ?? 80);
  await writeResult(options, document, text);
  if (!options.json) {
    print('\nQUERIES of the last hour in Logs Insights');
    printLinks(queries);
    // Last, where a terminal shows it at once.
    print(`\n${toRowsText(stage, runbook)}`);
  }
  const { alarms, live } = status;
  const isWhole =
    Object.values(status).every((part) => 'value' in part) &&
    'value' in live &&
    live.value.unread.length === 0;
  const isQuiet = 'value' in alarms && alarms.value.firing.length === 0;
  if (!isWhole || !isQuiet) process.exitCode = 1;
}

/** The saved queries of a stage, each with the link that opens it in the console, for the last hour. */
function linkQueries(stage: Stage, region: string) {
  return logQueries.map((query) => {
    const { queryString, logGroupNames } = toSavedQuery(stage, query);
    const logs = logGroupNames.map((name) => `~'${toStars(name)}`).join('');
    // The notation of the console's links, which AWS does not document: https://github.com/Sage/jsurl
    const detail = `~(end~0~start~-3600~timeType~'RELATIVE~unit~'seconds~editorString~'${toStars(queryString)}~source~(${logs}))`;
    const link = `https://${region}.console.aws.amazon.com/cloudwatch/home?region=${region}#logsV2:logs-insights$3FqueryDetail$3D${detail}`;
    return { name: query.name, link };
  });
}

/** The queries hold ASCII alone. */
function toStars(text: string): string {
  const toStar = (sign: string) => `*${sign.charCodeAt(0).toString(16).padStart(2, '0')}`;
  return text.replace(/[^\w-]/g, toStar);
}
