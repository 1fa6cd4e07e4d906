import { Aws } from 'aws-cdk-lib';
import { MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { listRateRules } from '../../gateway/rateRules.ts';
import { toNames } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import type { WatchAlarm } from './alarms.ts';

/**
 * What the firewall's rate rules refuse. AWS does not say whether the gateway's access log has a line for it, so the
 * firewall's own metrics count: https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
 */
export function defineFirewallAlarm(stage: Stage): WatchAlarm | undefined {
  const { api } = toNames(stage);
  const refused = listRateRules(stage.settings).map(({ name }, index) => [
    `rule${index}`,
    new Metric({
      namespace: 'AWS/WAFV2',
      metricName: 'BlockedRequests',
      dimensionsMap: { WebACL: api, Region: Aws.REGION, Rule: name },
      statistic: Stats.SUM,
    }),
  ]);
  if (refused.length === 0) return undefined;
  return {
    name: 'rate-limited-requests',
    description: `The firewall refused 100 requests with 429 in each five minutes of a quarter of an hour, since a key or an address sends more than its share. Others are served. Look in the AWS WAF console at the web ACL ${api}: its graph names the rule, and "Sampled requests" the address. Ask the client to slow down, or raise firewallListsPerClient or firewallRequestsPerAddress in ${stagesFile}.`,
    metric: new MathExpression({
      label: '429 by the firewall',
      expression: refused.map(([id]) => `FILL(${id}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(refused),
    }),
    threshold: 100,
    periods: [3, 3],
  };
}
