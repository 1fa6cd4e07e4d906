import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { onFastClock, useNoBackOff } from '../../support/faults/clock.ts';
import type { Fault } from '../../support/faults/faults.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { addApiKey, type FaultyTarget, openFaultyStage, toStoreCalls } from '../localTarget.ts';
import { sendValid } from '../operations/suites.ts';
import { send } from '../target.ts';

const outages = [
  ...(['throughputExceeded', 'throttled', 'requestLimit', 'internalServerError'] as const),
  ...(['unavailable', 'htmlError', 'gatewayTimeout', 'reset', 'brokenBody'] as const),
  ...(['truncated', 'emptied', 'htmlPage', 'notHttp'] as const),
];

/** Milliseconds, well before the platform would end the function after 28 s. */
const TIMEOUT = 24_000;

let target: FaultyTarget;
useNoBackOff();
beforeAll(async () => {
  target = await openFaultyStage();
  // Each operation has now cached the key.
  for (const id of operationIds) await sendValid(target, id);
  target.store.heal();
}, 30_000);
afterEach(() => target.store.heal());
afterAll(() => target?.close());

function sendAll(apiKey = target.apiKey) {
  const headers = { Origin: target.origin };
  return Promise.all(
    operationIds.map(async (id) => {
      const response = await sendValid(target, id, { apiKey, headers });
      expectReadableFrom(target.origin, response);
      return [id, response] as const;
    }),
  );
}

describe('each operation', () => {
  async function forEachOperation(
    failure: { fault: Fault; times?: number },
    check: (response: ExactResponse, id: OperationId, calls: number) => void,
  ): Promise<void> {
    for (const id of operationIds) {
      await target.store.heal();
      const rule = toStoreCalls(id);
      target.store.fail({ ...rule, ...failure });
      check(await sendValid(target, id), id, target.store.calls.get(rule.action) ?? 0);
    }
  }

  test.each(outages)('returns 503 when every call to its table ends in %s', async (fault) => {
    await forEachOperation({ fault }, (response, id, calls) => {
      expectError(response, 'service_unavailable', id);
      expect(calls).toBeGreaterThan(1);
    });
  });

  test.each(outages)('returns 200 when only the first call ends in %s', async (fault) => {
    await forEachOperation({ fault, times: 1 }, (response, id, calls) => {
      expectSuccess(response, id);
      expect(calls).toBe(2);
    });
  });

  test.each(['accessDenied', 'resourceNotFound'] as const)(
    'returns 500, and leaks nothing, after %s',
    async (fault) => {
      await forEachOperation({ fault }, (response, id) => {
        expectError(response, 'internal_error', id);
        expect(response.text).not.toMatch(/secret|petstore|table|resource/i);
      });
    },
  );

  test.each([
    ['throttled', 'service_unavailable'],
    ['reset', 'service_unavailable'],
    ['accessDenied', 'internal_error'],
  ] as const)(
    'neither accepts nor refuses a key when the key table fails with %s',
    async (fault, code) => {
      const valid = await addApiKey('write');
      target.store.fail({ table: String(process.env.API_KEYS_TABLE), fault });
      for (const apiKey of [valid, mintApiKey().apiKey]) {
        for (const [id, response] of await sendAll(apiKey)) expectError(response, code, id);
      }
      await target.store.heal();
      for (const [id, response] of await sendAll(valid)) expectSuccess(response, id);
    },
  );

  test.each<[string, Fault]>([
    ['never responds', 'hang'],
    ['sends a byte every half second', 'trickle'],
    ['falls silent in the middle of each response', 'stalledBody'],
  ])('returns 503 before its timeout when the database %s', async (_, fault) => {
    target.store.fail({ fault });
    await onFastClock(async () => {
      const started = performance.now();
      for (const [id, response] of await sendAll()) {
        expectError(response, 'service_unavailable', id);
      }
      expect(performance.now() - started).toBeLessThan(TIMEOUT);
    });
  });
});

describe('listInventory in the middle of its list', () => {
  const list = (headers = {}) => sendValid(target, 'listInventory', { headers });

  test('continues after the retry of a page', async () => {
    target.store.pageSize = 10;
    target.store.fail({ action: 'Scan', fault: 'throttled', after: 2, times: 1 });
    const response = await list();
    expectSuccess(response, 'listInventory');
    expect(response.json()).toHaveLength(target.fixtures.inventory.length);
  });

  test.each([
    ['throttled', undefined],
    ['accessDenied', undefined],
    ['reset', undefined],
    ['accessDenied', 'gzip'],
    ['accessDenied', 'zstd'],
  ] as const)(
    'breaks the connection when the next page fails with %s, in the coding %s, so that no truncated list looks complete',
    async (fault, coding) => {
      const headers = coding && { 'Accept-Encoding': coding };
      target.store.pageSize = 30;
      target.store.fail({ action: 'Scan', fault, after: 1 });
      await expect(list(headers)).rejects.toMatchObject({ code: 'ECONNRESET' });
      await target.store.heal();
      const whole = await list(headers);
      expect(whole.status).toBe(200);
      expect(whole.headers.get('Content-Encoding')).toBe(coding ?? null);
    },
  );
});

test('listOrders links to the orders that a short page of the database leaves out', async () => {
  target.store.pageSize = 2;
  const response = await sendValid(target, 'listOrders');
  expectSuccess(response, 'listOrders');
  const [, next = ''] = /<\/v1(.*)>; rel="next"/.exec(response.headers.get('Link') ?? '') ?? [];
  await target.store.heal();
  const rest = await send(target, 'GET', next);
  const listed = [...(response.json() as unknown[]), ...(rest.json() as unknown[])];
  expect(listed).toHaveLength(target.fixtures.orders.length);
});
