import { Validations } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import type { StageSettings } from '../stages/stageSettings.ts';

/** The period in which requests of one address are counted. */
const evaluationWindowSec = 300;

/**
 * Rules of AWS's common set that would refuse requests that the contract allows. They only count. A client need not
 * send a User-Agent, and 100 ids of `petId` exceed the rule's 2,048 bytes for a query. The other rules look for what no
 * valid request has, such as a path of 1 KB or a body of 8 KB:
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
 */
const countedRules = ['NoUserAgent_HEADER', 'SizeRestrictions_QUERYSTRING'];

/**
 * Refuses attacks that AWS knows, addresses with a bad reputation, and floods from one address, if the settings have a
 * firewall.
 */
export function defineFirewall(
  scope: Construct,
  name: string,
  api: RestApi,
  { firewall, throttles, firewallRequestsPerAddress }: StageSettings,
): void {
  if (!firewall) {
    Validations.of(api.deploymentStage).acknowledge({
      id: 'AwsSolutions-APIG3',
      reason:
        "The stage's settings have no firewall: it costs money while idle, and keys and throttles bound abuse.",
    });
    return;
  }
  const rates = Object.values(throttles).map(({ rate }) => rate);
  const allowed = evaluationWindowSec * rates.reduce((sum, rate) => sum + rate, 0);
  const acl = new CfnWebACL(scope, 'Firewall', {
    name,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: toVisibility('firewall'),
    rules: [
      {
        name: 'flood',
        priority: 0,
        action: { block: {} },
        statement: {
          rateBasedStatement: {
            limit: firewallRequestsPerAddress ?? Math.ceil(allowed),
            evaluationWindowSec,
            aggregateKeyType: 'IP',
          },
        },
        visibilityConfig: toVisibility('flood'),
      },
      toManagedRule('AWSManagedRulesAmazonIpReputationList', 1),
      toManagedRule('AWSManagedRulesCommonRuleSet', 2, countedRules),
    ],
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  });
}

function toManagedRule(
  name: string,
  priority: number,
  counted: readonly string[] = [],
): CfnWebACL.RuleProperty {
  const ruleActionOverrides = counted.map((rule) => ({ name: rule, actionToUse: { count: {} } }));
  return {
    name,
    priority,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        ...(counted.length > 0 && { ruleActionOverrides }),
      },
    },
    visibilityConfig: toVisibility(name),
  };
}

function toVisibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}
