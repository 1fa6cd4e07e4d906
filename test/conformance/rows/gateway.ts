import { describe, expect, test } from 'vitest';
import { expectError, expectReadableFrom } from '../expectations.ts';
import { operationIds, sendValid } from '../requests.ts';
import { send, type TargetSource } from '../target.ts';

const unknownPaths = [
  '/',
  '/nothing',
  '/Inventory',
  '/inventory/1/2',
  '/inventory/1/quantity',
  '/pets',
  '/pets/1/photos',
  '/store',
  '/store/orders/1',
  '/v1/inventory',
  '/constructor',
  '/__proto__',
];

const otherMethods: [path: string, allowed: string, others: string[]][] = [
  ['/inventory', 'GET', ['POST', 'PUT', 'PATCH', 'DELETE']],
  ['/inventory/1', 'PATCH', ['GET', 'POST', 'PUT', 'DELETE']],
  ['/pets/1', 'GET', ['POST', 'PUT', 'PATCH', 'DELETE']],
  ['/store/orders', 'GET', ['POST', 'PUT', 'PATCH', 'DELETE']],
];

/** What the gateway answers by itself. */
export function describeGateway(target: TargetSource): void {
  describe('the gateway', () => {
    test.each(unknownPaths)('answers 404 to the unknown path %s', async (path) => {
      const headers = { Origin: target().origin };
      const response = await send(target(), 'GET', path, { headers });
      expectError(response, 'not_found');
      expectReadableFrom(target().origin, response);
    });

    test.each(
      otherMethods.flatMap(([path, allowed, others]) =>
        others.map((method) => [method, path, allowed] as const),
      ),
    )('answers 405 to %s %s and allows %s', async (method, path, allowed) => {
      const headers = { Origin: target().origin };
      const response = await send(target(), method, path, { headers });
      expectError(response, 'method_not_allowed');
      expectReadableFrom(target().origin, response);
      const methods = (response.headers.get('Allow') ?? '').split(',').map((name) => name.trim());
      expect(methods.filter((name) => name !== 'OPTIONS')).toEqual([allowed]);
    });

    test.each(['/pets/%', '/pets/%zz', '/pets/%ff'])(
      'answers 400 to %s, which is not percent-encoded text',
      async (path) => {
        expectError(await send(target(), 'GET', path), 'invalid_request');
      },
    );

    test.each(operationIds)(
      'gives each request of %s its own X-Request-Id',
      async (operationId) => {
        const ids = new Set<string | null>();
        for (let count = 0; count < 3; count += 1) {
          const response = await sendValid(target(), operationId);
          ids.add(response.headers.get('X-Request-Id'));
        }
        expect(ids.size).toBe(3);
      },
    );
  });
}
