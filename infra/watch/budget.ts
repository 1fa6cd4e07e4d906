import { createHash } from 'node:crypto';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import { toStackName, toTags } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/**
 * Tells whom the settings name when the stage has cost, or will cost by AWS's forecast, a share of its month's
 * budget. It sees what carries the tags, some 8 to 12 hours late, and stops nothing. Without actions it is
 * free (https://aws.amazon.com/aws-cost-management/aws-budgets/pricing/).
 */
export function defineBudget(scope: Construct, stage: Stage): void {
  const { budget } = stage.settings;
  if (!budget) return;
  const { monthlyDollars, notify, actualPercent, forecastPercent } = budget;
  const notificationsWithSubscribers = [
    ...actualPercent.map((percent) => toNotification('ACTUAL', percent, notify)),
    ...forecastPercent.map((percent) => toNotification('FORECASTED', percent, notify)),
  ];
  const { service, stage: name } = toTags(stage);
  new CfnBudget(scope, 'Budget', {
    budget: {
      // CloudFormation replaces a budget whose notifications change, and cannot while the name is taken.
      budgetName: `${toStackName(stage)}-${toFingerprint(notificationsWithSubscribers)}`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyDollars, unit: 'USD' },
      costFilters: { TagKeyValue: [`user:service$${service}`, `user:stage$${name}`] },
      // What the stage costs, and not what AWS gave back for other reasons.
      costTypes: { includeCredit: false, includeRefund: false },
    },
    notificationsWithSubscribers,
  });
}

function toNotification(
  notificationType: 'ACTUAL' | 'FORECASTED',
  threshold: number,
  addresses: readonly string[],
): CfnBudget.NotificationWithSubscribersProperty {
  return {
    notification: {
      notificationType,
      comparisonOperator: 'GREATER_THAN',
      threshold,
      thresholdType: 'PERCENTAGE',
    },
    subscribers: addresses.map((address) => ({ subscriptionType: 'EMAIL', address })),
  };
}

function toFingerprint(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 8);
}
