import { describe, expect, it } from 'vitest';
import { operationSettings } from '../../../../infra/stages/stages.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import {
  fillAccessLog,
  findProperties,
  findResources,
  templates,
} from '../../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../../support/stageFixtures.ts';

// `templates.txt` has one path's methods and the gateway's own errors; these tests compare the paths with the
// contract.

const contract: [OperationId, Operation][] = Object.entries(operations) as never;
const production = (type: string) => findResources('production', `AWS::${type}`);
const functions = production('Lambda::Function');
const aliases = production('Lambda::Alias');
const permissions = findProperties(templates.production, 'AWS::Lambda::Permission');
const methods = findProperties(templates.production, 'AWS::ApiGateway::Method');
const resources = production('ApiGateway::Resource');

function toPath(resourceId: { Ref?: string }): string {
  const { ParentId, PathPart } = resources[resourceId.Ref ?? '']?.Properties ?? {};
  return PathPart === undefined ? '' : `${toPath(ParentId)}/${PathPart}`;
}

const routes = methods.map(({ HttpMethod, ResourceId, Integration }) => ({
  name: `${HttpMethod} ${toPath(ResourceId)}`,
  integration: Integration,
}));
const findRoute = (name: string) => routes.find((route) => route.name === name);

describe('the gateway', () => {
  it('calls functions only on the methods and paths of the contract', () => {
    const calling = routes.filter(({ integration }) => integration.Type !== 'MOCK');
    const expected = contract.map(([, { method, path }]) => `${method} ${path}`);
    expect(calling.map(({ name }) => name).sort()).toEqual(expected.sort());
  });

  it.each(contract)(
    'calls the live %s, with a timeout as long as it may run or stream',
    (id, { method, path, summary, streamed }) => {
      const { integration } = findRoute(`${method} ${path}`) ?? {};
      const uri = integration.Uri['Fn::Join'][1];
      const [alias] = uri.filter((part: { Ref?: string }) => part.Ref && part.Ref in aliases);
      const { Name, FunctionName } = aliases[alias.Ref]?.Properties ?? {};
      expect(Name).toBe('live');
      expect(functions[FunctionName.Ref]?.Properties.Description).toBe(summary);
      const permitted = permissions.filter((one) => one.FunctionName.Ref === alias.Ref);
      expect(permitted.map(({ Principal }) => Principal)).toEqual(['apigateway.amazonaws.com']);
      const limit = integration.TimeoutInMillis ?? 29_000;
      expect(limit).toBeGreaterThanOrEqual(operationSettings[id].timeoutSeconds * 1000);
      expect(integration.ResponseTransferMode).toBe(streamed ? 'STREAM' : undefined);
      expect(uri.at(-1)).toBe(streamed ? '/response-streaming-invocations' : '/invocations');
    },
  );

  it('responds to a preflight on every path of the contract, and 405 to other methods', () => {
    const paths = [...new Set(contract.map(([, { path }]) => path))];
    const preflights = routes.filter(({ name }) => name.startsWith('OPTIONS'));
    const expected = paths.map((path) => `OPTIONS ${path}`);
    expect(preflights.map(({ name }) => name).sort()).toEqual(expected.sort());
    for (const path of paths) {
      const here = contract.filter(([, operation]) => operation.path === path);
      const allow = [...here.map(([, { method }]) => method), 'OPTIONS'].join(', ');
      const toHeader = (method: string, header: string) =>
        toResponse(`${method} ${path}`).ResponseParameters[`method.response.header.${header}`];
      expect(toHeader('OPTIONS', 'Access-Control-Allow-Methods')).toBe(`'${allow}'`);
      expect(toHeader('ANY', 'Allow')).toBe(`'${allow}'`);
      expect(toResponse(`ANY ${path}`).StatusCode).toBe('405');
    }
  });

  it('returns 404 on all other paths, so that a Bearer token is not taken for a signature', () => {
    const unknown = routes.filter(
      ({ name }) => name.startsWith('ANY') && toResponse(name).StatusCode === '404',
    );
    const paths = contract.map(([, { path }]) => path);
    const parents = paths.map((path) => path.slice(0, path.lastIndexOf('/')));
    const others = parents.filter((parent) => paths.every((path) => path !== parent));
    expect(others).toContain('/store');
    expect(unknown.map(({ name }) => name).sort()).toEqual(
      [...new Set([...others, '', '/{unknownPath+}'])].map((path) => `ANY ${path}`).sort(),
    );
  });
});

function toResponse(name: string) {
  return findRoute(name)?.integration.IntegrationResponses[0];
}

describe.each(fixtureNames)('the stage of %s', (name) => {
  const [stage] = findProperties(templates[name], 'AWS::ApiGateway::Stage');

  it('logs the fields to find a request by, and no header that could have a key', () => {
    const texts = fillAccessLog(name);
    expect(texts).toMatchObject({
      requestId: '$context.requestId',
      status: '$context.status',
      userAgent: '$context.identity.userAgent',
      functionRequestId: '$context.integration.requestId',
      gatewayError: '$context.error.responseType',
    });
    expect(JSON.stringify(texts)).not.toMatch(/header|authorization/i);
  });

  // What a client writes, such as a path or a trace id, is in the line as it came.
  it.each(['\\', '"},{"status":"200'])(
    'logs a line of JSON that a client cannot change, although it sends %j',
    (sent) => {
      const byGateway =
        /requestId|sourceIp|httpMethod|resourcePath|status|response|latency|integration/i;
      const { userAgent, ...rest } = fillAccessLog(name, (variable) => {
        // The gateway escapes this one.
        if (variable === '$context.identity.userAgent') return JSON.stringify(sent).slice(1, -1);
        return byGateway.test(variable) ? variable : sent;
      });
      expect(userAgent).toBe(sent);
      const { userAgent: _, ...unchanged } = fillAccessLog(name);
      expect(rest).toEqual(unchanged);
    },
  );

  it('logs a line of JSON where the gateway knows nothing, and writes dashes', () => {
    const line = fillAccessLog(name, () => '-');
    expect(new Set(Object.values(line))).toEqual(new Set(['-']));
  });

  it('limits each operation, and everything else, by its settings', () => {
    expect(stage).toMatchObject({ StageName: 'v1', TracingEnabled: true });
    const { throttles } = fixtures[name].settings;
    const toLimit = (method: string, path: string, id: keyof typeof throttles) => ({
      HttpMethod: method,
      ResourcePath: `/${path.replaceAll('/', '~1')}`,
      ...(method === '*' && { LoggingLevel: 'OFF' }),
      DataTraceEnabled: false,
      ThrottlingRateLimit: throttles[id].rate,
      ThrottlingBurstLimit: throttles[id].burst,
    });
    const limits = contract.map(([id, { method, path }]) => toLimit(method, path, id));
    const expected = [toLimit('*', '*', 'other'), ...limits];
    expect(stage.MethodSettings).toHaveLength(operationIds.length + 1);
    for (const limit of expected)
      expect(stage.MethodSettings).toContainEqual(expect.objectContaining(limit));
  });
});

it('each stage has its own sampling rule, by its priority', () => {
  const rules = fixtureNames.flatMap((stage) =>
    findProperties(templates[stage], 'AWS::XRay::SamplingRule'),
  );
  expect(rules.map(({ SamplingRule }) => SamplingRule.Priority).sort()).toEqual([1_000, 1_001]);
});
