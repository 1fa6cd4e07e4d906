import { expect, it } from 'vitest';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { fillAccessLog, findResources } from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

it.each(fixtureNames)('%s logs what a request is found by, and no header', (stage) => {
  const { bytes, ...texts } = fillAccessLog(stage);
  expect(texts).toMatchObject({
    requestId: '$context.requestId',
    status: '$context.status',
    functionRequestId: '$context.integration.requestId',
    gatewayError: '$context.error.responseType',
  });
  expect(JSON.stringify(texts)).not.toMatch(/header|authorization/i);
  // A number, which a metric sums up.
  expect(bytes).toBe(0);
  for (const value of Object.values(texts)) expect(value).toMatch(/^\$context\./);
});

it.each(fixtureNames)(
  '%s limits each operation, and everything else, as its settings say',
  (stage) => {
    const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
    expect(gateway?.Properties).toMatchObject({ StageName: 'v1', TracingEnabled: true });
    const { throttles } = fixtures[stage].settings;
    const toLimit = (method: string, path: string, id: keyof typeof throttles) => ({
      HttpMethod: method,
      ResourcePath: `/${path.replaceAll('/', '~1')}`,
      ...(method === '*' && { LoggingLevel: 'OFF' }),
      DataTraceEnabled: false,
      ThrottlingRateLimit: throttles[id].rate,
      ThrottlingBurstLimit: throttles[id].burst,
    });
    const limits = operationIds.map((id) =>
      toLimit(operations[id].method, operations[id].path, id),
    );
    const expected = [toLimit('*', '*', 'other'), ...limits];
    expect(gateway?.Properties.MethodSettings).toHaveLength(expected.length);
    expect(gateway?.Properties.MethodSettings).toEqual(
      expect.arrayContaining(expected.map((limit) => expect.objectContaining(limit))),
    );
  },
);

it('gives each stage a sampling rule of its own, by its priority', () => {
  const rules = fixtureNames.flatMap((stage) =>
    Object.values(findResources(stage, 'AWS::XRay::SamplingRule')),
  );
  const priorities = rules.map(({ Properties }) => Properties.SamplingRule.Priority);
  expect(priorities).toEqual([1_000, 1_001]);
});
