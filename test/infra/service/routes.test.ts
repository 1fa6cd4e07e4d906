import { Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ResponseType, RestApi } from 'aws-cdk-lib/aws-apigateway';
import { describe, expect, it } from 'vitest';
import { gatewayErrors } from '../../../infra/gateway/gatewayErrors.ts';
import { addErrorAnswer, addPreflightAnswer } from '../../../infra/service/routes.ts';
import { operationSettings } from '../../../infra/stages/stages.ts';
import { statusOfCode } from '../../../shared/contract/errorBody.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import { ErrorBody } from '../../../shared/contract/schemas.ts';
import { type CfnResource, findResources } from '../../support/stackTemplates.ts';
import { fixtureNames } from '../../support/stageFixtures.ts';
import { toAnswerHeaders, toRoutes } from '../../support/templateRoutes.ts';

const contract: [OperationId, Operation][] = Object.entries(operations) as never;

describe.each(fixtureNames)('the gateway of %s', (stage) => {
  const routes = toRoutes(stage);
  const functions = findResources(stage, 'AWS::Lambda::Function');
  const aliases = findResources(stage, 'AWS::Lambda::Alias');
  const permissions = Object.values(findResources(stage, 'AWS::Lambda::Permission'));
  const findRoute = (method: string, path: string) =>
    routes.find((route) => route.method === method && route.path === path);

  it('calls functions on the methods and paths of the contract, and on no others', () => {
    const calling = routes.filter(({ integration }) => integration.Type !== 'MOCK');
    expect(calling.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      contract.map(([, { method, path }]) => `${method} ${path}`).sort(),
    );
  });

  it.each(contract)(
    'calls the live %s, and waits as long as it may run or stream',
    (id, operation) => {
      const { integration } = findRoute(operation.method, operation.path) ?? {};
      const uri = integration.Uri['Fn::Join'][1];
      const [alias] = uri.filter((part: { Ref?: string }) => part.Ref && part.Ref in aliases);
      const { Name, FunctionName } = aliases[alias.Ref]?.Properties ?? {};
      expect(Name).toBe('live');
      expect(functions[FunctionName.Ref]?.Properties.Description).toBe(operation.summary);
      const permitted = permissions.filter(
        ({ Properties }) => Properties.FunctionName.Ref === alias.Ref,
      );
      expect(permitted.map(({ Properties }) => Properties.Principal)).toEqual([
        'apigateway.amazonaws.com',
      ]);
      const limit = integration.TimeoutInMillis ?? 29_000;
      expect(limit).toBeGreaterThanOrEqual(operationSettings[id].timeoutSeconds * 1000);
      expect(integration.Type).toBe('AWS_PROXY');
      expect(integration.ResponseTransferMode).toBe(operation.streamed ? 'STREAM' : undefined);
      expect(uri.at(-1)).toBe(
        operation.streamed ? '/response-streaming-invocations' : '/invocations',
      );
    },
  );

  it('answers a preflight on every path of the contract, and asks for no key', () => {
    const preflights = routes.filter(({ method }) => method === 'OPTIONS');
    expect(preflights.map(({ path }) => path).sort()).toEqual(
      [...new Set(contract.map(([, { path }]) => path))].sort(),
    );
    expect(toAnswerHeaders(findRoute('OPTIONS', '/inventory/{petId}'))).toEqual({
      'Access-Control-Allow-Origin': stage === 'staging' ? "'*'" : "'https://www.petstore.example'",
      'Access-Control-Allow-Methods': `'${toAllow('/inventory/{petId}')}'`,
      'Access-Control-Allow-Headers':
        "'Authorization,Content-Type,If-Match,If-None-Match,Idempotency-Key,X-Request-Id,traceparent,tracestate,baggage'",
      'Access-Control-Max-Age': "'7200'",
      'X-Request-Id': 'context.requestId',
    });
  });

  it.each(contract)('answers 405 to another method on the path of %s', (_, { path }) => {
    const route = findRoute('ANY', path);
    expect(route?.integration).toMatchObject({
      PassthroughBehavior: 'NEVER',
      RequestTemplates: { 'application/json': '{"statusCode":405}' },
      IntegrationResponses: [{ StatusCode: '405' }],
    });
    expect(toBody(route).code).toBe('method_not_allowed');
    expect(toAnswerHeaders(route)).toMatchObject({
      Allow: `'${toAllow(path)}'`,
      'X-Request-Id': 'context.requestId',
    });
  });

  it('answers 404 on all other paths, so that a Bearer token is not taken for a signature', () => {
    const unknown = routes.filter(
      ({ method, path }) => method === 'ANY' && !contract.some(([, o]) => o.path === path),
    );
    expect(unknown.map(({ path }) => path).sort()).toEqual([
      '/',
      '/pets',
      '/store',
      '/{unknownPath+}',
    ]);
    for (const route of unknown) expect(toBody(route)).toMatchObject({ status: 404 });
  });

  it('may call the live versions and nothing else, and needs no authorizer', () => {
    const called = permissions.map(({ Properties }) => Properties.FunctionName.Ref);
    expect(called.sort()).toEqual(Object.keys(aliases).sort());
    expect(called).toHaveLength(contract.length);
    const methods = Object.values(findResources(stage, 'AWS::ApiGateway::Method'));
    const types = methods.map(({ Properties }) => Properties.AuthorizationType);
    expect(new Set(types)).toEqual(new Set(['NONE']));
  });
});

/** What `Allow` says of a path of the contract. */
function toAllow(path: string): string {
  const here = contract.filter(([, operation]) => operation.path === path);
  return [...here.map(([, { method }]) => method), 'OPTIONS'].join(', ');
}

function toBody(route: ReturnType<typeof toRoutes>[number] | undefined) {
  const [answer] = route?.integration.IntegrationResponses ?? [];
  const body = ErrorBody.parse(JSON.parse(answer.ResponseTemplates['application/json']));
  expect(String(body.status)).toBe(answer.StatusCode);
  return body;
}

describe('where several origins are allowed', () => {
  const origins = ['https://a.example', 'https://b.example'] as const;
  const api = new RestApi(new Stack(), 'Api');
  addPreflightAnswer(api.root, ['GET'], origins);
  addErrorAnswer(api.root, gatewayErrors.RESOURCE_NOT_FOUND, origins);
  const methods = Object.values(
    Template.fromStack(Stack.of(api)).findResources('AWS::ApiGateway::Method'),
  ).map(({ Properties }) => Properties);
  const find = (name: string) => methods.find(({ HttpMethod }) => HttpMethod === name);
  const toHeader = (name: string) => `method.response.header.${name}`;

  it('a preflight names the origin only where it is one of them', () => {
    const [answer] = find('OPTIONS').Integration.IntegrationResponses;
    const allowed = toHeader('Access-Control-Allow-Origin');
    expect(answer.ResponseParameters).not.toHaveProperty([allowed]);
    expect(answer.ResponseParameters[toHeader('Vary')]).toBe("'Origin'");
    expect(answer.ResponseTemplates['application/json']).toContain(
      '#if($origin == "https://a.example" || $origin == "https://b.example")' +
        '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end',
    );
    const [error] = find('ANY').Integration.IntegrationResponses;
    // Any origin may read an error.
    expect(error.ResponseParameters[allowed]).toBe("'*'");
  });

  it('every header that is sent is declared, as the gateway demands', () => {
    for (const { Integration, MethodResponses } of methods) {
      const [{ ResponseParameters: sent }] = Integration.IntegrationResponses;
      const declared = Object.keys(MethodResponses[0].ResponseParameters);
      expect(declared).toEqual(expect.arrayContaining(Object.keys(sent)));
    }
  });
});

describe.each(fixtureNames)("the gateway's own errors in %s", (stage) => {
  const responses = Object.values(findResources(stage, 'AWS::ApiGateway::GatewayResponse'));
  const findResponse = (type: string) =>
    responses.find(({ Properties }) => Properties.ResponseType === type);

  it('cover every response type of the gateway', () => {
    const types = Object.values(ResponseType)
      .filter((value) => value instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(types.length).toBeGreaterThan(20);
    expect(responses.map(({ Properties }) => Properties.ResponseType).sort()).toEqual(types.sort());
  });

  it.each(Object.keys(gatewayErrors))('%s carries the Error body and the headers', (type) => {
    const { Properties } = findResponse(type) as CfnResource;
    const body = ErrorBody.parse(JSON.parse(Properties.ResponseTemplates['application/json']));
    expect(String(body.status)).toBe(Properties.StatusCode);
    expect(body.status).toBe(statusOfCode[body.code]);
    expect(Properties.ResponseParameters).toMatchObject({
      'gatewayresponse.header.X-Request-Id': 'context.requestId',
      'gatewayresponse.header.Access-Control-Allow-Origin':
        stage === 'staging' ? "'*'" : "'https://www.petstore.example'",
      'gatewayresponse.header.Access-Control-Expose-Headers':
        expect.stringContaining('X-Request-Id'),
      ...(['429', '503'].includes(Properties.StatusCode) && {
        'gatewayresponse.header.Retry-After': expect.stringMatching(/^'\d+'$/),
      }),
    });
  });

  it.each([
    ['MISSING_AUTHENTICATION_TOKEN', '404'],
    ['INVALID_SIGNATURE', '404'],
    ['THROTTLED', '429'],
    ['REQUEST_TOO_LARGE', '413'],
    ['UNSUPPORTED_MEDIA_TYPE', '415'],
    ['INTEGRATION_FAILURE', '503'],
    ['INTEGRATION_TIMEOUT', '503'],
    ['DEFAULT_5XX', '500'],
  ])('answer %s with %s', (type, status) => {
    expect(findResponse(type)?.Properties.StatusCode).toBe(status);
  });
});
