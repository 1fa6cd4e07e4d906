import { expect, test } from 'vitest';
import { type FixedUnits, toFixedUnits } from '../../../infra/costs/bills/fixedCosts.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { type StageName, stages } from '../../../infra/stages/stages.ts';
import { ends } from '../../../infra/watch/check/daysLeft.ts';
import {
  type CfnResource,
  changedProduction,
  type StageTemplates,
  synthesizeProduction,
  templates,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { changedSettings } from '../../support/stageFixtures.ts';

const stageNames = Object.keys(templates) as StageName[];

const unwatched = { raisesAlarms: false, rollout: 'atOnce' } as const;
const changed = (changes: Partial<StageSettings>) => ({
  ...stages.production.settings,
  ...changes,
});

test.each<[name: string, settings: StageSettings, stacks: () => StageTemplates]>([
  ...stageNames.map((name): [string, StageSettings, () => StageTemplates] => [
    name,
    stages[name].settings,
    () => ({ service: templates[name], watch: watchTemplates[name] }),
  ]),
  ['a stage with everything', changed(changedSettings), changedProduction],
  ['a stage without alarms', changed(unwatched), () => synthesizeProduction(unwatched)],
])('what the settings of %s come to a month is what its stacks have', (_, settings, stacks) => {
  expect(toFixedUnits(settings)).toEqual(countFixedUnits(stacks()));
});

test.each(stageNames)('%s has one dashboard, which is free', (name) => {
  expect(
    Object.keys(watchTemplates[name].findResources('AWS::CloudWatch::Dashboard')),
  ).toHaveLength(1);
});

/** What a stage's stacks have that is billed by the month. */
function countFixedUnits({ service, watch }: StageTemplates): FixedUnits {
  const find = (type: string) =>
    [service, watch].flatMap(
      (template) => Object.values(template.findResources(type)) as CfnResource[],
    );
  const alarms = find('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
  const filters = find('AWS::Logs::MetricFilter').flatMap(
    ({ Properties }) => Properties.MetricTransformations,
  );
  // The others count what goes wrong, one by one, and have no value while nothing does.
  const always = filters.filter(({ MetricValue }) => MetricValue !== '1');
  const schedules = find('AWS::Events::Rule').map(
    ({ Properties }) => Properties.ScheduleExpression,
  );
  const minutes = schedules.map((rate) => Number(/^rate\((\d+) minutes?\)$/.exec(rate)?.[1]));
  return {
    alarmMetrics: alarms.reduce((sum, alarm) => sum + countMetrics(alarm), 0),
    customMetrics: always.length + schedules.length * ends.length,
    encryptionKeys: find('AWS::KMS::Key').length,
    checks: minutes.reduce((sum, every) => sum + (730 * 60) / every, 0),
    firewallRules: find('AWS::WAFv2::WebACL').reduce(
      (sum, acl) => sum + acl.Properties.Rules.length,
      0,
    ),
    isBackedUp: JSON.stringify(service).includes('"PointInTimeRecoveryEnabled":true'),
  };
}

function countMetrics({ Metrics }: CfnResource['Properties']): number {
  return Metrics?.filter((metric: { MetricStat?: unknown }) => metric.MetricStat).length ?? 1;
}
