import { describe, expect, it } from 'vitest';
import { changedProduction, templates } from '../../support/stackTemplates.ts';
import { fixtureNames } from '../../support/stageFixtures.ts';

describe('the firewall', () => {
  it.each(fixtureNames)('is left out of %s by its settings', (stage) => {
    templates[stage].resourceCountIs('AWS::WAFv2::WebACL', 0);
  });

  it("stands before the gateway's stage where the settings ask for it", () => {
    const { service } = changedProduction();
    const [[aclId, acl] = []] = Object.entries(service.findResources('AWS::WAFv2::WebACL'));
    expect(acl?.Properties.Scope).toBe('REGIONAL');
    expect(acl?.Properties.DefaultAction).toEqual({ Allow: {} });
    const [flood, ...managed] = acl?.Properties.Rules ?? [];
    expect(flood).toMatchObject({
      Action: { Block: {} },
      Statement: { RateBasedStatement: { AggregateKeyType: 'IP', Limit: 10_000 } },
    });
    expect(managed).toMatchObject(
      ['AWSManagedRulesAmazonIpReputationList', 'AWSManagedRulesCommonRuleSet'].map((Name) => ({
        OverrideAction: { None: {} },
        Statement: { ManagedRuleGroupStatement: { VendorName: 'AWS', Name } },
      })),
    );
    const [association] = Object.values(service.findResources('AWS::WAFv2::WebACLAssociation'));
    expect(association?.Properties.WebACLArn).toEqual({ 'Fn::GetAtt': [aclId, 'Arn'] });
    const [stageId] = Object.keys(service.findResources('AWS::ApiGateway::Stage'));
    expect(JSON.stringify(association?.Properties.ResourceArn)).toContain(`{"Ref":"${stageId}"}`);
  });
});
