import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { addApiKey } from '../../support/addApiKey.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import type { Fault } from '../../support/faults.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { sendValid } from '../requests.ts';
import { type FaultyTarget, openFaultyTarget, toStoreCalls } from './faultyTarget.ts';

const outages: Fault[] = [
  'throughputExceeded',
  'throttled',
  'requestLimit',
  'internalServerError',
  'unavailable',
  'htmlError',
  'reset',
  'brokenBody',
];

let target: FaultyTarget;
beforeAll(async () => {
  target = await openFaultyTarget();
}, 30_000);
afterEach(() => target.store.heal());
afterAll(() => target?.close());

describe('each operation', () => {
  test.each(outages)('answers 503 when every call to its table ends in %s', async (fault) => {
    failStores({ fault });
    await forEachOperation((response, operationId) => {
      expectError(response, 'service_unavailable', operationId);
      expect(storeCallsOf(operationId)).toBeGreaterThan(1);
    });
  });

  test.each(outages)('answers 200 when only the first call ends in %s', async (fault) => {
    failStores({ fault, times: 1 });
    await forEachOperation((response, operationId) => {
      expectSuccess(response, operationId);
      expect(storeCallsOf(operationId)).toBe(2);
    });
  });

  test.each(['accessDenied', 'resourceNotFound'] as const)(
    'answers 500, and leaks nothing, after %s',
    async (fault) => {
      failStores({ fault });
      await forEachOperation((response, operationId) => {
        expectError(response, 'internal_error', operationId);
        expect(response.text).not.toMatch(/secret|petstore|table|resource/i);
      });
    },
  );

  test.each([
    ['throttled', 'service_unavailable'],
    ['reset', 'service_unavailable'],
    ['accessDenied', 'internal_error'],
  ] as const)(
    'lets nobody in and turns nobody away when the key table answers %s',
    async (fault, code) => {
      const valid = await addApiKey('write');
      target.store.fail({ table: String(process.env.API_KEYS_TABLE), fault });
      const refuse = (apiKey: string) =>
        forEachOperation(
          (response, operationId) => expectError(response, code, operationId),
          apiKey,
        );
      await Promise.all([refuse(valid), refuse(mintApiKey().apiKey)]);
      target.store.heal();
      await forEachOperation(expectSuccess, valid);
    },
  );
});

function failStores(failure: { fault: Fault; times?: number }): void {
  for (const operationId of operationIds) {
    target.store.fail({ ...toStoreCalls(operationId), ...failure });
  }
}

function storeCallsOf(operationId: OperationId): number {
  return target.store.calls.get(toStoreCalls(operationId).action) ?? 0;
}

/** Sends every operation at once, from a browser: each takes seconds to give up. */
async function forEachOperation(
  check: (response: ExactResponse, operationId: OperationId) => void,
  apiKey = target.apiKey,
): Promise<void> {
  const headers = { Origin: target.origin };
  const responses = await Promise.all(
    operationIds.map((operationId) => sendValid(target, operationId, { apiKey, headers })),
  );
  for (const [index, operationId] of operationIds.entries()) {
    const response = responses[index] as ExactResponse;
    check(response, operationId);
    expectReadableFrom(target.origin, response);
  }
}
