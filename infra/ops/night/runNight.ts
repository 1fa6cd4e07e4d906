import { parseArgs } from 'node:util';
import { print, writeOut } from '../../cli/output.ts';
import { parseStage, stageUsage } from '../../cli/stageOption.ts';
import { readStack } from '../../cli/stageStack.ts';
import { isWhole, toNextStep, toValue } from './nextStep.ts';
import { toNightText } from './nightText.ts';
import { readNight } from './readNight.ts';

const help = `npm run night -- ${stageUsage} [--json]

One screen for an engineer who was paged. It shows the alarms that fire and since when, what is live,
the requests that failed in the last hour, their errors with a request id each, the tables that DynamoDB
throttles, and the command to type next. It changes nothing.

  --json    print the same as JSON

If a part cannot be read, one line says why, and the rest is shown. Two queries of Logs Insights cost
$0.005 per GB that was logged in the hour.

The status is 0 when nothing fires, 1 when an alarm fires or something could not be read, 2 when the
command line makes no sense.`;

const flags = {
  stage: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** The page leaves out what AWS has not answered by then. */
const DEADLINE_MILLISECONDS = 30_000;

/** Shows the state of a stage. */
export async function runNight(args: string[], deadline = DEADLINE_MILLISECONDS): Promise<void> {
  const { stage: stageName, json, help: asksHelp } = parseArgs({ args, options: flags }).values;
  if (asksHelp) return print(help);
  const stage = parseStage(stageName);
  // Two attempts fit into the deadline.
  const requestTimeout = deadline / 3;
  const stack = await readStack(stage, {
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: requestTimeout,
      requestTimeout,
      throwOnRequestTimeout: true,
    },
  });
  const now = Date.now();
  const night = await readNight(stack, now, AbortSignal.timeout(deadline));
  const next = toNextStep(stage, night);
  await writeOut(
    json
      ? `${JSON.stringify({ stage: stage.name, time: new Date(now).toISOString(), ...night, next }, null, 2)}\n`
      : toNightText(stage, night, next, now, process.stdout.columns ?? 80),
  );
  if (!isWhole(night) || toValue(night.alarms)?.firing.length !== 0) process.exitCode = 1;
}
