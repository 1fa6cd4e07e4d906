import { createHash } from 'node:crypto';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { Budget } from '../stages/stageSettings.ts';

/**
 * Tells whom the settings name when the stage has cost, or will cost by AWS's forecast, a share of its month's
 * budget. It sees what carries the tags, some 8 to 12 hours late, and stops nothing. Without actions it is
 * free (https://aws.amazon.com/aws-cost-management/aws-budgets/pricing/).
 */
export function defineBudget(
  scope: Construct,
  stackName: string,
  { service, stage }: Readonly<Record<'service' | 'stage', string>>,
  { monthlyDollars, notify, actualPercent, forecastPercent }: Budget,
): void {
  const notificationsWithSubscribers = [
    ...actualPercent.map((percent) => toNotification('ACTUAL', percent, notify)),
    ...forecastPercent.map((percent) => toNotification('FORECASTED', percent, notify)),
  ];
  new CfnBudget(scope, 'Budget', {
    budget: {
      // CloudFormation replaces a budget whose notifications change, and cannot while the name is taken.
      budgetName: `${stackName}-${toFingerprint(notificationsWithSubscribers)}`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: monthlyDollars, unit: 'USD' },
      costFilters: { TagKeyValue: [`user:service$${service}`, `user:stage$${stage}`] },
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
