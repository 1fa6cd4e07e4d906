import { expect, test } from 'vitest';
import { type FixedUnits, fixedUnitsFile } from '../../../infra/costs/model/fixedCosts.ts';
import { type StageName, stageNames, stages } from '../../../infra/stages/stages.ts';
import { ends } from '../../../infra/watch/check/daysLeft.ts';
import { type CfnResource, templates, watchTemplates } from '../../support/stackTemplates.ts';

test('what each stage is billed for in any case is what stands in fixedUnits.json', async () => {
  const counted = Object.fromEntries(stageNames.map((name) => [name, countUnits(name)]));
  await expect(`${JSON.stringify(counted, null, 2)}\n`).toMatchFileSnapshot(
    fixedUnitsFile.pathname,
  );
});

function countUnits(name: StageName): FixedUnits {
  const find = (type: string) =>
    [templates[name], watchTemplates[name]].flatMap(
      (template) => Object.values(template.findResources(type)) as CfnResource[],
    );
  const { checkEveryMinutes, firewall, protectsData } = stages[name].settings;
  const alarms = find('AWS::CloudWatch::Alarm').map(({ Properties }) => Properties);
  const filters = find('AWS::Logs::MetricFilter').flatMap(
    ({ Properties }) => Properties.MetricTransformations,
  );
  // The others count what goes wrong, one by one, and have no value while nothing does.
  const always = filters.filter(({ MetricValue }) => MetricValue !== '1');
  return {
    alarmMetrics: alarms.reduce((sum, alarm) => sum + countMetrics(alarm), 0),
    customMetrics: always.length + (checkEveryMinutes ? ends.length : 0),
    encryptionKeys: find('AWS::KMS::Key').length,
    checks: checkEveryMinutes ? (730 * 60) / checkEveryMinutes : 0,
    firewallRules: firewall
      ? find('AWS::WAFv2::WebACL').reduce((sum, acl) => sum + acl.Properties.Rules.length, 0)
      : 0,
    isBackedUp: protectsData,
  };
}

function countMetrics({ Metrics }: CfnResource['Properties']): number {
  return Metrics?.filter((metric: { MetricStat?: unknown }) => metric.MetricStat).length ?? 1;
}
