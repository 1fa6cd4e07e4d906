import { Aws } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { listRateRules } from '../../gateway/rateRules.ts';
import { toNames } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { managedGroups } from '../service/firewall.ts';
import type { WatchAlarm } from './alarms.ts';
import { sumMetrics } from './metrics.ts';

/**
 * What the firewall's rate rules and AWS's groups refuse, each by its own metric. So the addresses that people block
 * count nowhere: https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
 */
export function defineFirewallAlarms(stage: Stage): WatchAlarm[] {
  if (!stage.settings.firewall) return [];
  const { api } = toNames(stage);
  return [
    {
      name: 'rate-limited-requests',
      description: `The firewall refused 100 requests with 429 in each five minutes of a quarter of an hour, since a key or an address sends more than its share. Others are served. Look in the AWS WAF console at the web ACL ${api}: its graph names the rule, and "Sampled requests" the address. Ask the client to slow down, or raise firewallListsPerClient or firewallRequestsPerAddress in ${stagesFile}.`,
      // AWS allows ten rate rules, and an alarm ten metrics.
      metric: buildRefusedMetric(
        api,
        '429 by the firewall',
        listRateRules(stage.settings).map(({ name }) => name),
      ),
      threshold: 100,
      periods: [3, 3],
    },
    {
      name: 'suspicious-requests',
      description: `The firewall refused 100 requests with 403 in each five minutes of a quarter of an hour, since AWS's rules take them for an attack. Look in the AWS WAF console at the web ACL ${api}: "Sampled requests" has the rule and the address. An attack needs nothing further. If it is a known client, have the rule only count, in managedGroups of infra/deploy/service/firewall.ts.`,
      metric: buildRefusedMetric(api, '403 by the firewall', Object.keys(managedGroups)),
      threshold: 100,
      periods: [3, 3],
    },
  ];
}

function buildRefusedMetric(acl: string, label: string, rules: readonly string[]): MathExpression {
  const refused = rules.map(
    (rule) =>
      new Metric({
        namespace: 'AWS/WAFV2',
        metricName: 'BlockedRequests',
        dimensionsMap: { WebACL: acl, Region: Aws.REGION, Rule: rule },
        statistic: Stats.SUM,
      }),
  );
  const { value, usingMetrics } = sumMetrics('rule', refused);
  return new MathExpression({ label, expression: value, usingMetrics });
}
