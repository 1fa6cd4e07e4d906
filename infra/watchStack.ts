import { type App, Stack } from 'aws-cdk-lib';
import { defineAbuseAlarms } from './abuseAlarms.ts';
import { defineAlarmTopic } from './alarmTopic.ts';
import { defineCapacityAlarms } from './capacityAlarms.ts';
import { defineClientAlarms } from './clientAlarms.ts';
import { defineDashboard } from './dashboard.ts';
import { defineRefusalMetrics } from './refusalMetrics.ts';
import { defineSavedQueries } from './savedQueries.ts';
import { type StageName, type StageSettings, toStackName } from './stages.ts';
import { defineAlarms } from './watchAlarm.ts';

/**
 * What watches a deployment. A stack of its own, so that the service can be deployed without it, and it
 * can be thrown away and made again: it holds nothing but the confirmed alarm address.
 */
export function defineWatchStack(
  app: App,
  stage: StageName,
  settings: StageSettings,
  service: Stack,
): Stack {
  const { account, region } = settings;
  const stack = new Stack(app, `${toStackName(stage)}-watch`, {
    description: `Alarms and dashboard of the pet store's inventory service, ${stage}`,
    env: { ...(account && { account }), ...(region && { region }) },
    tags: { service: 'petstore', stage },
  });
  // Metric filters need the logs that they read.
  stack.addStackDependency(service);
  const refusals = defineRefusalMetrics(stack, stage);
  const alarms = defineAlarms(stack, stage, defineAlarmTopic(stack, stage, settings), [
    ...defineClientAlarms(stage, refusals),
    ...defineCapacityAlarms(stage, settings),
    ...defineAbuseAlarms(stage, refusals),
  ]);
  defineDashboard(stack, stage, settings, refusals, alarms);
  defineSavedQueries(stack, stage);
  return stack;
}
