import { type App, Stack } from 'aws-cdk-lib';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { toTags, toWatchStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { defineAbuseAlarms } from './abuseAlarms.ts';
import { defineAccessLogMetrics, type RefusalMetrics } from './accessLogMetrics.ts';
import { defineAlarmTopics } from './alarmTopics.ts';
import { defineBudget } from './budget.ts';
import { defineCapacityAlarms } from './capacityAlarms.ts';
import { defineCheckAlarms } from './checkAlarms.ts';
import { defineClientAlarms } from './clientAlarms.ts';
import { defineDashboard } from './dashboard.ts';
import { defineSavedQueries } from './savedQueries.ts';
import { defineScheduledCheck } from './scheduledCheck.ts';
import { defineAlarms } from './watchAlarm.ts';

/**
 * What watches a deployment. A stack of its own, so that the service can be deployed without it, and it
 * can be made again at any time: it holds nothing but the confirmed alarm address.
 */
export function defineWatchStack(app: App, stage: Stage, service: Stack): Stack {
  const { account, region, checkEveryMinutes, protectsData } = stage.settings;
  const stack = new Stack(app, toWatchStackName(stage), {
    description: `Alarms and dashboard of the pet store's inventory service, ${stage.name}`,
    env: { ...(account && { account }), ...(region && { region }) },
    // `cdk destroy` of the service would take this stack first, and then be refused: both or neither.
    terminationProtection: protectsData,
    tags: toTags(stage),
  });
  // Metric filters need the logs that they read.
  stack.addStackDependency(service);
  const refusals = defineAccessLogMetrics(stack, stage);
  defineDashboard(stack, stage, refusals, definePager(stack, stage, refusals));
  defineSavedQueries(stack, stage);
  defineBudget(stack, stage);
  if (checkEveryMinutes) defineScheduledCheck(stack, stage, checkEveryMinutes);
  return stack;
}

function definePager(stack: Stack, stage: Stage, refusals: RefusalMetrics): Alarm[] {
  const { checkEveryMinutes, raisesAlarms } = stage.settings;
  if (!raisesAlarms) return [];
  return defineAlarms(stack, stage, defineAlarmTopics(stack, stage), [
    ...defineClientAlarms(stage, refusals),
    ...defineCapacityAlarms(stage),
    ...defineAbuseAlarms(stage, refusals),
    ...(checkEveryMinutes ? defineCheckAlarms(stage, checkEveryMinutes) : []),
  ]);
}
