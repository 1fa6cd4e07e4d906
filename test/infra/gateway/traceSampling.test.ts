import { expect, it } from 'vitest';
import { findResources } from '../../support/stackTemplates.ts';
import { type FixtureName, fixtureNames } from '../../support/stageFixtures.ts';

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
