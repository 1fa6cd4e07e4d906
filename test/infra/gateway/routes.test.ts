import { describe, expect, it } from 'vitest';
import { operationSettings, stageNames } from '../../../infra/stages/stages.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { type OperationId, operations } from '../../../shared/contract/operations.ts';
import { ErrorBody } from '../../../shared/contract/schemas.ts';
import { findResources } from '../../support/stackTemplates.ts';
import { toAnswerHeaders, toRoutes } from '../../support/templateRoutes.ts';

const contract: [OperationId, Operation][] = Object.entries(operations) as never;

describe.each(stageNames)('the gateway of %s', (stage) => {
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

  it.each(contract)('calls the live %s, and lets it stream if it does', (_, operation) => {
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
    expect(integration.Type).toBe('AWS_PROXY');
    expect(integration.ResponseTransferMode).toBe(operation.streamed ? 'STREAM' : undefined);
    expect(uri.at(-1)).toBe(
      operation.streamed ? '/response-streaming-invocations' : '/invocations',
    );
  });

  it.each(contract)('waits for %s as long as its function may run', (id, { method, path }) => {
    const limit = findRoute(method, path)?.integration.TimeoutInMillis ?? 29_000;
    expect(limit).toBeGreaterThanOrEqual(operationSettings[id].timeoutSeconds * 1000);
  });

  it('answers a preflight on every path of the contract, and asks for no key', () => {
    const preflights = routes.filter(({ method }) => method === 'OPTIONS');
    expect(preflights.map(({ path }) => path).sort()).toEqual(
      [...new Set(contract.map(([, { path }]) => path))].sort(),
    );
    expect(toAnswerHeaders(findRoute('OPTIONS', '/inventory/{petId}'))).toEqual({
      'Access-Control-Allow-Origin': stage === 'staging' ? "'*'" : "'https://www.petstore.example'",
      'Access-Control-Allow-Methods': `'${toMethods('/inventory/{petId}')}'`,
      'Access-Control-Allow-Headers':
        "'Authorization,Content-Type,If-Match,If-None-Match,Idempotency-Key,X-Request-Id,traceparent,tracestate,baggage'",
      'Access-Control-Max-Age': "'7200'",
      'X-Request-Id': 'context.requestId',
    });
  });

  it.each(contract)('answers 405 to another method on the path of %s', (_, { path }) => {
    const route = findRoute('ANY', path);
    expect(route?.integration.IntegrationResponses[0].StatusCode).toBe('405');
    expect(toBody(route).code).toBe('method_not_allowed');
    expect(toAnswerHeaders(route)).toMatchObject({
      Allow: `'${toMethods(path)}'`,
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

  it('may call the live versions and nothing else', () => {
    const called = permissions.map(({ Properties }) => Properties.FunctionName.Ref);
    expect(called.sort()).toEqual(Object.keys(aliases).sort());
    expect(called).toHaveLength(contract.length);
  });

  it('needs no authorizer, since the functions check the key', () => {
    const methods = Object.values(findResources(stage, 'AWS::ApiGateway::Method'));
    expect(new Set(methods.map(({ Properties }) => Properties.AuthorizationType))).toEqual(
      new Set(['NONE']),
    );
  });
});

/** What `Allow` says of a path of the contract. */
function toMethods(path: string): string {
  const here = contract.filter(([, operation]) => operation.path === path);
  return [...here.map(([, { method }]) => method), 'OPTIONS'].join(', ');
}

function toBody(route: ReturnType<typeof toRoutes>[number] | undefined) {
  const [answer] = route?.integration.IntegrationResponses ?? [];
  const body = ErrorBody.parse(JSON.parse(answer.ResponseTemplates['application/json']));
  expect(String(body.status)).toBe(answer.StatusCode);
  return body;
}
