import { type App, Stack } from 'aws-cdk-lib';
import {
  type NamedStage,
  toStackName,
  toTags,
  toUsedTableName,
  toWatchStackName,
} from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { defineAlarms } from './alarms.ts';
import { defineBudget } from './budget.ts';
import { defineCapacityAlarms } from './capacityAlarms.ts';
import { defineAbuseAlarms, defineClientAlarms } from './clientAlarms.ts';
import { defineDashboard } from './dashboard.ts';
import { defineSavedQueries } from './logQueries.ts';
import { defineAccessLogMetrics } from './metrics.ts';
import { type CheckSettings, defineCheckAlarms, defineScheduledCheck } from './scheduledCheck.ts';

/**
 * What watches a deployment. A stack of its own, so that the service can be deployed without it, and it
 * can be made again at any time: it holds nothing but the confirmed alarm address.
 */
export function defineWatchStack(app: App, stage: Stage, service: Stack): Stack {
  const { account, region, budget, protectsData } = stage.settings;
  const tags = toTags(stage);
  const stack = new Stack(app, toWatchStackName(stage), {
    description: `Alarms and dashboard of the pet store's inventory service, ${stage.name}`,
    env: { ...(account && { account }), ...(region && { region }) },
    // `cdk destroy` of the service would take this stack first, and then be refused: both or neither.
    terminationProtection: protectsData,
    tags,
  });
  // Metric filters need the logs that they read.
  stack.addStackDependency(service);
  const named: NamedStage = { name: stage.name };
  const check = toCheckSettings(stage);
  const refusals = defineAccessLogMetrics(stack, named);
  const alarms = stage.settings.raisesAlarms
    ? defineAlarms(
        stack,
        toStackName(named),
        [
          ...defineClientAlarms(named, refusals, stage.settings.quietMinutes),
          ...defineCapacityAlarms(stage),
          ...defineAbuseAlarms(named, refusals),
          ...(check ? defineCheckAlarms(named, check) : []),
        ],
        stage.settings.alarms,
      )
    : [];
  defineDashboard(stack, stage, refusals, alarms);
  defineSavedQueries(stack, named);
  if (budget) defineBudget(stack, toStackName(named), tags, budget);
  if (check) defineScheduledCheck(stack, named, check);
  return stack;
}

function toCheckSettings(stage: Stage): CheckSettings | undefined {
  const { checkEveryMinutes: everyMinutes, baseAddress, logRetentionDays } = stage.settings;
  if (!everyMinutes) return undefined;
  const keyTable = toUsedTableName(stage, 'apiKeys');
  return { everyMinutes, baseAddress, keyTable, logRetentionDays };
}
