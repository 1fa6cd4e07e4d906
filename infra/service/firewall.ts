import { Validations } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';

/** Requests from one address in five minutes, past which the rest of them is refused with 403. */
const requestsPerAddress = 10_000;

/** Refuses what AWS knows for an attack, known bad addresses, and floods from one address. */
export function defineFirewall(scope: Construct, name: string, api: RestApi): void {
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
            limit: requestsPerAddress,
            evaluationWindowSec: 300,
            aggregateKeyType: 'IP',
          },
        },
        visibilityConfig: toVisibility('flood'),
      },
      toManagedRule('AWSManagedRulesAmazonIpReputationList', 1),
      toManagedRule('AWSManagedRulesCommonRuleSet', 2),
    ],
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  });
}

/** Gives the reason for a stage without one. */
export function explainNoFirewall(api: RestApi): void {
  Validations.of(api.deploymentStage).acknowledge({
    id: 'AwsSolutions-APIG3',
    reason:
      "The stage's settings leave the firewall out: it costs while idle, and keys and throttles bound abuse.",
  });
}

function toManagedRule(name: string, priority: number): CfnWebACL.RuleProperty {
  return {
    name,
    priority,
    overrideAction: { none: {} },
    statement: { managedRuleGroupStatement: { vendorName: 'AWS', name } },
    visibilityConfig: toVisibility(name),
  };
}

function toVisibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}
