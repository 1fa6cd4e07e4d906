import { expect, it } from 'vitest';
import type { Budget } from '../../../infra/stages/stageSettings.ts';
import {
  changedProduction,
  synthesizeProduction,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { changedSettings, fixtureNames } from '../../support/stageFixtures.ts';

const { budget } = changedSettings;

function findBudget({ watch } = changedProduction()) {
  const found = Object.values(watch.findResources('AWS::Budgets::Budget'));
  expect(found).toHaveLength(1);
  return found[0]?.Properties;
}

it('is left out unless the settings have one', () => {
  for (const stage of fixtureNames)
    watchTemplates[stage].resourceCountIs('AWS::Budgets::Budget', 0);
});

it('bounds a month of what carries the tags of the service and the stage', () => {
  expect(findBudget().Budget).toMatchObject({
    BudgetName: expect.stringMatching(/^petstore-production-[0-9a-f]{8}$/),
    BudgetType: 'COST',
    TimeUnit: 'MONTHLY',
    BudgetLimit: { Amount: 200, Unit: 'USD' },
    CostFilters: { TagKeyValue: ['user:service$petstore', 'user:stage$production'] },
    CostTypes: { IncludeCredit: false, IncludeRefund: false },
  });
});

it('tells each address at each share, of what was spent and of the forecast', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is.
  const told = findBudget().NotificationsWithSubscribers.map(({ Notification, ...to }: any) => {
    const { NotificationType, ComparisonOperator, Threshold, ThresholdType } = Notification;
    return [NotificationType, ComparisonOperator, Threshold, ThresholdType, to];
  });
  const to = {
    Subscribers: [
      { SubscriptionType: 'EMAIL', Address: 'finance@petstore.example' },
      { SubscriptionType: 'EMAIL', Address: 'ops@petstore.example' },
    ],
  };
  expect(told).toEqual([
    ['ACTUAL', 'GREATER_THAN', 50, 'PERCENTAGE', to],
    ['ACTUAL', 'GREATER_THAN', 100, 'PERCENTAGE', to],
    ['FORECASTED', 'GREATER_THAN', 120, 'PERCENTAGE', to],
  ]);
});

// CloudFormation makes a new budget of one whose notifications change, before it deletes the first.
it('has another name when whom it tells changes, and the same when its limit does', () => {
  const { BudgetName: name } = findBudget().Budget;
  const nameWith = (change: Partial<Budget>) =>
    findBudget(synthesizeProduction({ budget: { ...budget, ...change } })).Budget.BudgetName;
  expect(nameWith({ monthlyDollars: 300 })).toBe(name);
  expect(nameWith({ notify: ['cfo@petstore.example'] })).not.toBe(name);
});
