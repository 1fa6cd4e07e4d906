import { describe, expect, it } from 'vitest';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import {
  changedProduction,
  fillAccessLog,
  findResources,
  templates,
} from '../../support/stackTemplates.ts';
import { type FixtureName, fixtureNames, fixtures } from '../../support/stageFixtures.ts';

it.each(fixtureNames)('%s logs what a request is found by, and no header', (stage) => {
  const line = fillAccessLog(stage);
  expect(line).toMatchObject({
    requestId: '$context.requestId',
    status: '$context.status',
    functionRequestId: '$context.integration.requestId',
    gatewayError: '$context.error.responseType',
  });
  expect(JSON.stringify(line)).not.toMatch(/header|authorization/i);
});

it.each(fixtureNames)(
  '%s logs the bytes as a number, which a metric sums up, and else texts',
  (stage) => {
    const { bytes, ...others } = fillAccessLog(stage);
    expect(bytes).toBe(0);
    for (const value of Object.values(others)) expect(value).toMatch(/^\$context\./);
  },
);

function findRule(stage: FixtureName) {
  const found = Object.values(findResources(stage, 'AWS::XRay::SamplingRule'));
  expect(found).toHaveLength(1);
  return found[0]?.Properties.SamplingRule;
}

it.each([
  ['staging', 1, 0],
  ['production', 0, 0.01],
] as const)(
  '%s traces the first %i a second, and of the rest a share of %d',
  (stage, ...traced) => {
    const { ReservoirSize, FixedRate } = findRule(stage);
    expect([ReservoirSize, FixedRate]).toEqual(traced);
  },
);

it.each(fixtureNames)('%s samples the requests to its own API, and no other’s', (stage) => {
  const [api] = Object.values(findResources(stage, 'AWS::ApiGateway::RestApi'));
  const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
  const { RuleName, ServiceName, ServiceType, ...rule } = findRule(stage);
  expect(ServiceName).toBe(`${api?.Properties.Name}/${gateway?.Properties.StageName}`);
  expect(ServiceType).toBe('AWS::ApiGateway::Stage');
  // X-Ray's limits: https://docs.aws.amazon.com/xray/latest/api/API_SamplingRule.html
  expect(RuleName.length).toBeLessThanOrEqual(32);
  expect(ServiceName.length).toBeLessThanOrEqual(64);
  const { Host, HTTPMethod, ResourceARN, URLPath, Version } = rule;
  expect([Host, HTTPMethod, ResourceARN, URLPath, Version]).toEqual(['*', '*', '*', '*', 1]);
});

it('gives each stage a rule of its own, before X-Ray’s default', () => {
  const rules = fixtureNames.map(findRule);
  expect(new Set(rules.map(({ RuleName }) => RuleName)).size).toBe(rules.length);
  const priorities = rules.map(({ Priority }) => Priority);
  expect(new Set(priorities).size).toBe(priorities.length);
  for (const priority of priorities) expect(priority).toBeLessThan(10_000);
});

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

const { service: withDomain } = changedProduction();

it.each(fixtureNames)('%s serves /v1 with tracing', (stage) => {
  const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
  expect(gateway?.Properties).toMatchObject({ StageName: 'v1', TracingEnabled: true });
});

it.each(fixtureNames)(
  '%s limits each operation, and everything else, as its settings say',
  (stage) => {
    const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
    const limits = gateway?.Properties.MethodSettings.map(toLimit);
    const { throttles } = fixtures[stage].settings;
    const expected = operationIds.map((id) => {
      const { method, path } = operations[id];
      return [`${method} /${path.replaceAll('/', '~1')}`, throttles[id]];
    });
    expect(limits.sort()).toEqual([['* /*', throttles.other], ...expected].sort());
  },
);

function toLimit(setting: Record<string, string | number>) {
  const { HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit } = setting;
  return [
    `${HttpMethod} ${ResourcePath}`,
    { rate: ThrottlingRateLimit, burst: ThrottlingBurstLimit },
  ];
}

it.each([
  ['the gateway', 'AWS::ApiGateway::RestApi'],
  ['a name of its own', 'AWS::ApiGateway::DomainName'],
])('accepts TLS 1.2 and later only, at %s', (_, type) => {
  const all = Object.values(withDomain.findResources(type));
  expect(all).toHaveLength(1);
  expect(all[0]?.Properties).toMatchObject({
    SecurityPolicy: expect.stringMatching(/^SecurityPolicy_TLS13_1_[23]_/),
    EndpointAccessMode: 'STRICT',
  });
});

it('serves a name of its own under /v1 as well, and says where its DNS record must point to', () => {
  const [mapping] = Object.values(withDomain.findResources('AWS::ApiGateway::BasePathMapping'));
  const [[stageId] = []] = Object.entries(withDomain.findResources('AWS::ApiGateway::Stage'));
  expect(mapping?.Properties).toMatchObject({ BasePath: 'v1', Stage: { Ref: stageId } });
  const outputs = withDomain.findOutputs('*');
  expect(outputs.BaseUrl?.Value).toBe('https://api.petstore.example/v1');
  expect(JSON.stringify(outputs.DomainTarget?.Value)).toContain('RegionalDomainName');
});
