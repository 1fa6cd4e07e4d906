import { CfnOutput, Validations } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { CfnIPSet, CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import { apiVersion } from '../../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import { buildErrorHeaders, rateLimited, toErrorText } from '../../gateway/gatewayErrors.ts';
import {
  credentialsPattern,
  listRateRules,
  RATE_WINDOW_SECONDS,
  type RateRule,
} from '../../gateway/rateRules.ts';
import { toBlockedOutput, toNames } from '../../stages/resourceNames.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import type { Stage } from '../../stages/stages.ts';

/**
 * AWS's groups of rules, each with those of its rules that only count, since they would refuse requests that the
 * contract allows. A client need not send a User-Agent, and 100 ids of `petId` exceed the rule's 2,048 bytes for a
 * query. The other rules look for what no valid request has, such as a path of 1 KB or a body of 8 KB:
 * https://docs.aws.amazon.com/waf/latest/developerguide/aws-managed-rule-groups-baseline.html
 */
export const managedGroups: Readonly<Record<string, readonly string[]>> = {
  AWSManagedRulesAmazonIpReputationList: [],
  AWSManagedRulesCommonRuleSet: ['NoUserAgent_HEADER', 'SizeRestrictions_QUERYSTRING'],
};

/**
 * Bounds what one client takes from all others, if the settings have a firewall. It also refuses addresses that people
 * blocked, attacks that AWS knows and addresses with a bad reputation, with the gateway's 403, since a retry would not
 * help.
 */
export function defineFirewall(scope: Construct, stage: Stage, api: RestApi): void {
  const { settings } = stage;
  // Its metrics have the name too.
  const { api: name } = toNames(stage);
  if (!settings.firewall) {
    Validations.of(api.deploymentStage).acknowledge({
      id: 'AwsSolutions-APIG3',
      reason:
        "The stage's settings have no firewall: it costs money while idle, and keys and throttles bound abuse.",
    });
    return;
  }
  const rules = [
    { name: 'blocked', action: { block: {} }, statement: defineBlockedSets(scope, stage) },
    ...listRateRules(settings).map((rule) => ({
      name: rule.name,
      action: { block: { customResponse: buildRefusal(settings) } },
      statement: { rateBasedStatement: toRateStatement(rule) },
    })),
    ...Object.entries(managedGroups).map(([group, counted]) => ({
      name: group,
      overrideAction: { none: {} },
      statement: { managedRuleGroupStatement: toGroupStatement(group, counted) },
    })),
  ];
  const acl = new CfnWebACL(scope, 'Firewall', {
    name,
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: buildVisibility(name),
    customResponseBodies: {
      refusal: { contentType: 'APPLICATION_JSON', content: toErrorText(rateLimited) },
    },
    // Samples of requests have their headers.
    dataProtectionConfig: {
      dataProtections: [
        { field: { fieldType: 'SINGLE_HEADER', fieldKeys: [authorization.name] }, action: 'HASH' },
      ],
    },
    // The first rule that refuses a request ends it.
    rules: rules.map((rule, priority) => ({
      ...rule,
      priority,
      visibilityConfig: buildVisibility(rule.name),
    })),
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: api.deploymentStage.stageArn,
    webAclArn: acl.attrArn,
  });
}

/**
 * The addresses that people block, as infra/RUNBOOK.md says. CloudFormation leaves the sets alone while their
 * properties stay the same: any change here empties them.
 */
function defineBlockedSets(scope: Construct, stage: Stage): CfnWebACL.StatementProperty {
  const statements = ([4, 6] as const).map((family) => {
    const set = new CfnIPSet(scope, `BlockedV${family}`, {
      name: toNames(stage).toBlockedSet(family),
      scope: 'REGIONAL',
      ipAddressVersion: `IPV${family}`,
      addresses: [],
    });
    new CfnOutput(scope, toBlockedOutput(family), { value: set.attrId });
    return { ipSetReferenceStatement: { arn: set.attrArn } };
  });
  return { orStatement: { statements } };
}

/** A fixed text, so it has the CORS headers only if they are the same for all origins. */
function buildRefusal({ allowedOrigins }: StageSettings): CfnWebACL.CustomResponseProperty {
  const headers =
    allowedOrigins.length === 1
      ? buildErrorHeaders(rateLimited, allowedOrigins)
      : rateLimited.headers;
  return {
    responseCode: statusOfCode[rateLimited.code],
    customResponseBodyKey: 'refusal',
    responseHeaders: Object.entries(headers).map(([header, value]) => ({ name: header, value })),
  };
}

const authorization = {
  name: 'authorization',
  // The scheme is case-insensitive, and more than one space may follow it.
  textTransformations: listTransformations('COMPRESS_WHITE_SPACE', 'LOWERCASE'),
};

function toRateStatement({ limit, countedBy, counts }: RateRule) {
  return {
    limit,
    evaluationWindowSec: RATE_WINDOW_SECONDS,
    ...(countedBy === 'key'
      ? { aggregateKeyType: 'CUSTOM_KEYS', customKeys: [{ header: authorization }] }
      : { aggregateKeyType: 'IP' }),
    ...(counts !== 'all' && { scopeDownStatement: buildScope(counts) }),
  };
}

function buildScope(counts: 'keyless' | OperationId): CfnWebACL.StatementProperty {
  // `singleHeader` is plain JSON for the CDK, so its member has CloudFormation's name.
  const hasKey = matchField(
    { singleHeader: { Name: authorization.name } },
    credentialsPattern,
    authorization.textTransformations,
  );
  if (counts === 'keyless') {
    const isPreflight = matchField({ method: {} }, '^OPTIONS$');
    return { andStatement: { statements: [negate(hasKey), negate(isPreflight)] } };
  }
  const { method, path } = operations[counts];
  // The gateway ignores a doubled slash, and one at the end.
  const spelled = path.replaceAll('/', '/+').replaceAll(/\{\w+\}/g, '[^/]+');
  const isPath = matchField(
    { uriPath: {} },
    `^/+${apiVersion}${spelled}/*$`,
    listTransformations('URL_DECODE', 'NORMALIZE_PATH'),
  );
  const isMethod = matchField({ method: {} }, `^${method}$`);
  return { andStatement: { statements: [hasKey, isMethod, isPath] } };
}

function matchField(
  fieldToMatch: CfnWebACL.FieldToMatchProperty,
  regexString: string,
  textTransformations = listTransformations('NONE'),
): CfnWebACL.StatementProperty {
  return { regexMatchStatement: { fieldToMatch, regexString, textTransformations } };
}

function negate(statement: CfnWebACL.StatementProperty): CfnWebACL.StatementProperty {
  return { notStatement: { statement } };
}

function listTransformations(...types: string[]) {
  return types.map((type, priority) => ({ type, priority }));
}

function toGroupStatement(name: string, counted: readonly string[]) {
  const ruleActionOverrides = counted.map((rule) => ({ name: rule, actionToUse: { count: {} } }));
  return { vendorName: 'AWS', name, ...(counted.length > 0 && { ruleActionOverrides }) };
}

function buildVisibility(metricName: string): CfnWebACL.VisibilityConfigProperty {
  return { metricName, cloudWatchMetricsEnabled: true, sampledRequestsEnabled: true };
}
