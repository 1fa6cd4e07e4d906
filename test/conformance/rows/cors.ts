import { describe, expect, test } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { suites } from '../operations/suites.ts';
import { sendValid } from '../requests.ts';
import { send, type TargetSource } from '../target.ts';

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
      expect([200, 204]).toContain(response.status);
      expect([target().origin, '*']).toContain(response.headers.get('Access-Control-Allow-Origin'));
      expect(list(response.headers.get('Access-Control-Allow-Methods'))).toContain(
        method.toLowerCase(),
      );
      expect(list(response.headers.get('Access-Control-Allow-Headers'))).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'if-match']),
      );
      expect(response.headers.get('X-Request-Id')).not.toBeNull();
    });

    test.each(operationIds)('can read the answer of %s', async (operationId) => {
      const { origin } = target();
      const response = await sendValid(target(), operationId, { headers: { Origin: origin } });
      expectSuccess(response, operationId);
      expectReadableFrom(origin, response);
    });

    test.each(operationIds)('can read the errors of %s', async (operationId) => {
      const { origin } = target();
      const headers = { Origin: origin };
      const response = await sendValid(target(), operationId, { apiKey: null, headers });
      expectError(response, 'unauthorized', operationId);
      expectReadableFrom(origin, response);
    });
  });
}

function list(header: string | null): string[] {
  return (header ?? '').split(',').map((name) => name.trim().toLowerCase());
}
