import { createHash } from 'node:crypto';
import { type App, Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { CfnAnomalyMonitor, CfnAnomalySubscription } from 'aws-cdk-lib/aws-ce';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { buildStackProps, buildTags, toNames } from '../../stages/resourceNames.ts';
import { type Anomalies, type Budget, findBudget } from '../../stages/stageSettings.ts';
import type { Stage } from '../../stages/stages.ts';
import { defineAlarms } from './alarms.ts';
import { defineCapacityAlarms } from './capacityAlarms.ts';
import { defineClientAlarms } from './clientAlarms.ts';
import { defineDashboard } from './dashboard.ts';
import { defineFirewallAlarms } from './firewallAlarms.ts';
import { logQueries, toSavedQuery } from './logQueries.ts';
import { defineAccessLogMetrics } from './metrics.ts';
import { defineCheckAlarms, defineScheduledCheck } from './scheduledCheck.ts';

/**
 * The stack that watches a deployment. It is separate, so that the service can be deployed without it. It can be
 * rebuilt at any time, since it holds nothing but the confirmed alarm address.
 */
export function defineWatchStack(app: App, stage: Stage, service: Stack): Stack {
  const { anomalies, checkEveryMinutes } = stage.settings;
  const budget = findBudget(stage.settings);
  const names = toNames(stage);
  const stack = new Stack(app, names.watchStack, {
    description: `Alarms and dashboard of the pet store's inventory service, ${stage.name}`,
    // `cdk destroy` of the service deletes this stack first and is refused only then. So both refuse, or neither.
    ...buildStackProps(stage),
  });
  // Metric filters need their logs first.
  stack.addStackDependency(service);
  const counted = defineAccessLogMetrics(stack, stage);
  const alarms = stage.settings.raisesAlarms
    ? defineAlarms(
        stack,
        names.stack,
        [
          ...defineClientAlarms(stage, counted),
          ...defineFirewallAlarms(stage),
          ...defineCapacityAlarms(stage),
          ...(checkEveryMinutes ? defineCheckAlarms(stage, checkEveryMinutes) : []),
        ],
        stage.settings.alarms,
      )
    : [];
  defineDashboard(stack, stage, counted, alarms);
  for (const query of logQueries) {
    const id = `${query.name.replaceAll(' ', '')}Query`;
    new CfnQueryDefinition(stack, id, toSavedQuery(stage, query));
  }
  if (budget) defineBudget(stack, stage, budget);
  if (anomalies) defineAnomalies(stack, stage, anomalies);
  if (checkEveryMinutes) defineScheduledCheck(stack, stage, checkEveryMinutes);
  return stack;
}

/**
 * Sends an e-mail when the stage's cost reaches a share of its monthly budget, actually or by AWS's forecast. It counts
 * resources with the tags, is some 8 to 12 hours late, and stops nothing. Without actions it is free
 * (https://aws.amazon.com/aws-cost-management/aws-budgets/pricing/).
 */
function defineBudget(
  scope: Stack,
  stage: Stage,
  { monthlyDollars, notify, actualPercent, forecastPercent }: Budget,
): void {
  const subscribers = notify.map((address) => ({ subscriptionType: 'EMAIL', address }));
  const listNotifications = (notificationType: string, percents: readonly number[]) =>
    percents.map((threshold) => ({
      notification: {
        notificationType,
        comparisonOperator: 'GREATER_THAN',
        threshold,
        thresholdType: 'PERCENTAGE',
      },
      subscribers,
    }));
  const notificationsWithSubscribers = [
    ...listNotifications('ACTUAL', actualPercent),
    ...listNotifications('FORECASTED', forecastPercent),
  ];
  const text = JSON.stringify(notificationsWithSubscribers);
  const fingerprint = createHash('sha256').update(text).digest('hex').slice(0, 8);
  new CfnBudget(scope, 'Budget', {
    budget: {
      // If the notifications change, CloudFormation replaces the budget, and cannot while the name is taken.
      budgetName: `${toNames(stage).stack}-${fingerprint}`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyDollars, unit: 'USD' },
      // Only what has both tags, without credits and refunds. A list of two tags in `costFilters` would mean either.
      filterExpression: {
        and: [
          ...(['service', 'stage'] as const).map((key) => ({
            tags: { key, values: [buildTags(stage)[key]], matchOptions: ['EQUALS'] },
          })),
          { not: { dimensions: { key: 'RECORD_TYPE', values: ['Credit', 'Refund'] } } },
        ],
      },
      // Required beside an expression: https://github.com/hashicorp/terraform-provider-aws/issues/46866
      metrics: ['UnblendedCost'],
    },
    notificationsWithSubscribers,
  });
}

/**
 * Sends an e-mail, at most once a day, about spending unlike that of the weeks before. A monitor by tag can watch only
 * one tag, here the stage's. AWS needs some ten days of data. It is free
 * (https://docs.aws.amazon.com/cost-management/latest/userguide/manage-ad.html).
 */
function defineAnomalies(scope: Stack, stage: Stage, { minDollars, notify }: Anomalies): void {
  const monitor = new CfnAnomalyMonitor(scope, 'Anomalies', {
    monitorName: toNames(stage).stack,
    monitorType: 'CUSTOM',
    monitorSpecification: JSON.stringify({
      Tags: { Key: 'stage', Values: [stage.name], MatchOptions: ['EQUALS'] },
    }),
  });
  new CfnAnomalySubscription(scope, 'AnomalyMails', {
    subscriptionName: toNames(stage).stack,
    frequency: 'DAILY',
    monitorArnList: [monitor.attrMonitorArn],
    subscribers: notify.map((address) => ({ type: 'EMAIL', address })),
    thresholdExpression: JSON.stringify({
      Dimensions: {
        Key: 'ANOMALY_TOTAL_IMPACT_ABSOLUTE',
        Values: [String(minDollars)],
        MatchOptions: ['GREATER_THAN_OR_EQUAL'],
      },
    }),
  });
}
