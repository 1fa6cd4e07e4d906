import type { FixedUnits } from '../../../infra/costs/model/fixedCosts.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { ends } from '../../../infra/watch/check/daysLeft.ts';
import type { CfnResource, StageTemplates } from '../../support/stackTemplates.ts';

/** What a stage's stacks have that is billed by the month. */
export function countFixedUnits(
  { service, watch }: StageTemplates,
  { checkEveryMinutes, firewall, protectsData }: StageSettings,
): FixedUnits {
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
