import { expect, test } from 'vitest';
import type { GatewayRequest } from '../../../infra/local/gateway/gatewayRequest.ts';
import { toProxyEvent } from '../../../infra/local/gateway/proxyEvent.ts';

const request: GatewayRequest = {
  requestId: '8f3c1f0e-7d0b-4c57-9c0a-0d7a35c2f7b1',
  method: 'PATCH',
  fullPath: '/v1/inventory/7',
  path: '/inventory/7',
  query: new URLSearchParams(),
  headerLines: [],
  sourceIp: '127.0.0.1',
};
const build = (change: Partial<GatewayRequest>, body: string | null = null) =>
  toProxyEvent({ ...request, ...change }, '/inventory/{petId}', { petId: '7' }, body);

test('the event names the stage in the context alone', () => {
  expect(build({})).toMatchObject({
    resource: '/inventory/{petId}',
    path: '/inventory/7',
    httpMethod: 'PATCH',
    pathParameters: { petId: '7' },
    stageVariables: null,
    isBase64Encoded: false,
    requestContext: {
      path: '/v1/inventory/7',
      resourcePath: '/inventory/{petId}',
      stage: 'v1',
      requestId: request.requestId,
      identity: { sourceIp: '127.0.0.1' },
    },
  });
});

test('what is absent is null', () => {
  const event = toProxyEvent({ ...request, path: '/inventory' }, '/inventory', {}, null);
  expect(event).toMatchObject({
    body: null,
    pathParameters: null,
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
  });
  expect(event.requestContext.identity.userAgent).toBeNull();
});

test('headers keep the case of the client, and each line that it sent', () => {
  const headerLines = [
    ['if-MATCH', '"a"'],
    ['X-Two', '1'],
    ['User-Agent', 'storefront/1'],
    ['X-Two', '2'],
    ['__proto__', 'p'],
  ] as const;
  const event = build({ headerLines });
  expect(Object.entries(event.multiValueHeaders)).toEqual([
    ['if-MATCH', ['"a"']],
    ['X-Two', ['1', '2']],
    ['User-Agent', ['storefront/1']],
    ['__proto__', ['p']],
  ]);
  expect(event.headers).toMatchObject({ 'if-MATCH': '"a"', 'X-Two': '2' });
  expect(event.requestContext.identity.userAgent).toBe('storefront/1');
});

test('of a repeated query parameter, the single-valued form has the last value', () => {
  const event = build({ query: new URLSearchParams('a=1&b=%C5%BD+x&a=2&c') });
  expect(event.queryStringParameters).toEqual({ a: '2', b: 'Ž x', c: '' });
  expect(event.multiValueQueryStringParameters).toEqual({ a: ['1', '2'], b: ['Ž x'], c: [''] });
});
