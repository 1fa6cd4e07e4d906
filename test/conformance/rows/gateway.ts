import { describe, expect, test } from 'vitest';
import { httpMethods, type Operation } from '../../../shared/contract/operation.ts';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { sendValid, suites } from '../operations/suites.ts';
import { send, type TargetSource } from '../target.ts';

const unknownPaths = [
  ...'/ /nothing /Inventory /inventory/1/2 /inventory/1/quantity /pets /pets/1/photos'.split(' '),
  ...'/store /store/orders/1/2 /v1/inventory /constructor /__proto__'.split(' '),
].filter((path) => operationIds.every((id) => operations[id].path !== path));

/** Each method without an operation on a path, with the path's allowed methods. */
const otherMethods = operationIds.flatMap((id) => {
  const { path } = operations[id];
  const same = Object.values(operations).filter((operation) => operation.path === path);
  const allowed: string[] = same.map(({ method }) => method);
  const others = httpMethods.filter((name) => !allowed.includes(name));
  return others.map((method) => [method, id, allowed] as const);
});

export function describeGateway(target: TargetSource): void {
  describe('the gateway', () => {
    test.each(unknownPaths)('returns 404 for the unknown path %s', async (path) => {
      const headers = { Origin: target().origin };
      const response = await send(target(), 'GET', path, { headers });
      expectError(response, 'not_found');
      expect(response.text).toContain('The base address ends in /v1');
      expectReadableFrom(target().origin, response);
    });

    test('says so too of a path without /v1', async () => {
      const baseUrl = target().baseUrl.replace(/\/v1$/, '');
      const response = await send({ ...target(), baseUrl, onResponse() {} }, 'GET', '/inventory');
      expectError(response, 'not_found');
      expect(response.text).toContain('The base address ends in /v1');
    });

    test.each(otherMethods)('returns 405 for %s on the path of %s', async (method, id, allowed) => {
      const { path } = suites[id].toValidRequest(target());
      const headers = { Origin: target().origin };
      const response = await send(target(), method, path, { headers });
      expectError(response, 'method_not_allowed');
      expectReadableFrom(target().origin, response);
      const methods = (response.headers.get('Allow') ?? '').split(',').map((name) => name.trim());
      expect(methods.filter((name) => name !== 'OPTIONS')).toEqual(allowed);
      const { message } = response.json() as { message: string };
      expect(message).toBe(`This path allows only ${methods.join(', ')}.`);
    });

    test.each(['/pets/%', '/pets/%zz', '/pets/%ff'])(
      'returns 400 for %s, which is not percent-encoded text',
      async (path) => {
        expectError(await send(target(), 'GET', path), 'invalid_request');
      },
    );

    test.each(operationIds)(
      'refuses each parameter of %s that is empty or repeated',
      async (id) => {
        const { query = {}, exclusive = [] }: Operation = operations[id];
        const invalid = Object.keys(query).flatMap((name) => [`${name}=`, `${name}=&${name}=`]);
        const pairs = exclusive.map(([one, other]) => `${one}=1&${other}=1`);
        const { method, path } = suites[id].toValidRequest(target());
        for (const search of [...invalid, ...pairs]) {
          const response = await send(target(), method, `${path}?${search}`);
          expectError(response, 'invalid_request', id);
        }
      },
    );

    test.each(operationIds)(
      'gives each request of %s its own X-Request-Id',
      async (operationId) => {
        const responses = [1, 2, 3].map(() => sendValid(target(), operationId));
        const ids = (await Promise.all(responses)).map(({ headers }) =>
          headers.get('X-Request-Id'),
        );
        expect(new Set(ids).size).toBe(3);
      },
    );
  });
}

export function describeCors(target: TargetSource): void {
  describe('a browser storefront', () => {
    test.each(operationIds)('may call %s: the preflight needs no key', async (operationId) => {
      const { method, path } = suites[operationId].toValidRequest(target());
      const response = await send(target(), 'OPTIONS', path, {
        apiKey: null,
        headers: {
          Origin: target().origin,
          'Access-Control-Request-Method': method,
          'Access-Control-Request-Headers': 'authorization,content-type,if-match',
        },
      });
      const { status, headers } = response;
      expect([200, 204]).toContain(status);
      expect([target().origin, '*']).toContain(headers.get('Access-Control-Allow-Origin'));
      expect(list(headers.get('Access-Control-Allow-Methods'))).toContain(method.toLowerCase());
      expect(list(headers.get('Access-Control-Allow-Headers'))).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'if-match']),
      );
      expect(headers.get('X-Request-Id')).not.toBeNull();
    });

    test.each(operationIds)('can read the responses and errors of %s', async (operationId) => {
      const headers = { Origin: target().origin };
      const response = await sendValid(target(), operationId, { headers });
      expectSuccess(response, operationId);
      expectReadableFrom(target().origin, response);
      const refused = await sendValid(target(), operationId, { apiKey: null, headers });
      expectError(refused, 'unauthorized', operationId);
      expectReadableFrom(target().origin, refused);
    });
  });
}

function list(header: string | null): string[] {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase());
}
