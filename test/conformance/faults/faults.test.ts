import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { useNoBackOff } from '../../support/faults/backOff.ts';
import { onFastClock } from '../../support/faults/fastClock.ts';
import type { Fault } from '../../support/faults/faults.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { addApiKey } from '../localTarget.ts';
import { sendValid } from '../operations/suites.ts';
import { type FaultyTarget, openFaultyTarget, toStoreCalls } from './faultyTarget.ts';

const outages: Fault[] = [
  'throughputExceeded',
  'throttled',
  'requestLimit',
  'internalServerError',
  'unavailable',
  'htmlError',
  'gatewayTimeout',
  'reset',
  'brokenBody',
  'truncated',
  'emptied',
  'htmlPage',
  'notHttp',
];

/** Milliseconds, well before the 28 s after which the platform would end the function. */
const TIMEOUT = 24_000;

let target: FaultyTarget;
useNoBackOff();
beforeAll(async () => {
  target = await openFaultyTarget();
}, 30_000);
afterEach(() => target.store.heal());
afterAll(() => target?.close());

describe('each operation', () => {
  test.each(outages)('answers 503 when every call to its table ends in %s', async (fault) => {
    await forEachOperation({ fault }, (response, operationId) => {
      expectError(response, 'service_unavailable', operationId);
      expect(storeCallsOf(operationId)).toBeGreaterThan(1);
    });
  });

  test.each(outages)('answers 200 when only the first call ends in %s', async (fault) => {
    await forEachOperation({ fault, times: 1 }, (response, operationId) => {
      expectSuccess(response, operationId);
      expect(storeCallsOf(operationId)).toBe(2);
    });
  });

  test.each(['accessDenied', 'resourceNotFound'] as const)(
    'answers 500, and leaks nothing, after %s',
    async (fault) => {
      await forEachOperation({ fault }, (response, operationId) => {
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
      const refuse = async (apiKey: string) => {
        const responses = await sendAll(operationIds, apiKey);
        for (const [operationId, response] of responses) expectError(response, code, operationId);
      };
      await Promise.all([refuse(valid), refuse(mintApiKey().apiKey)]);
      target.store.heal();
      for (const [operationId, response] of await sendAll(operationIds, valid)) {
        expectSuccess(response, operationId);
      }
    },
  );
});

describe('each operation answers 503 in good time when the database', () => {
  test.each<[string, Fault]>([
    ['never answers', 'hang'],
    ['answers a byte every half second', 'trickle'],
    ['falls silent in the middle of each answer', 'stalledBody'],
  ])('%s', async (_, fault) => {
    target.store.fail({ fault });
    await onFastClock(async () => {
      const started = performance.now();
      for (const [operationId, response] of await sendAll(operationIds)) {
        expectError(response, 'service_unavailable', operationId);
      }
      expect(performance.now() - started).toBeLessThan(TIMEOUT);
    });
  });
});

function storeCallsOf(operationId: OperationId): number {
  return target.store.calls.get(toStoreCalls(operationId).action) ?? 0;
}

/**
 * Sends every operation while the calls to its table fail: all at once, since each takes seconds to
 * give up, but those that make the same calls one after the other.
 */
async function forEachOperation(
  failure: { fault: Fault; times?: number },
  check: (response: ExactResponse, operationId: OperationId) => void,
): Promise<void> {
  for (const round of toRounds()) {
    target.store.heal();
    for (const operationId of round)
      target.store.fail({ ...toStoreCalls(operationId), ...failure });
    for (const [operationId, response] of await sendAll(round)) check(response, operationId);
  }
}

/** Every operation once, in groups in which each makes a call of another action. */
function toRounds(): OperationId[][] {
  const rounds: OperationId[][] = [];
  for (const operationId of operationIds) {
    const { action } = toStoreCalls(operationId);
    const round = rounds.find((ids) => ids.every((id) => toStoreCalls(id).action !== action));
    if (round) round.push(operationId);
    else rounds.push([operationId]);
  }
  return rounds;
}

/** Sends the operations at once, from a browser. */
async function sendAll(
  ids: readonly OperationId[],
  apiKey = target.apiKey,
): Promise<[OperationId, ExactResponse][]> {
  const headers = { Origin: target.origin };
  return Promise.all(
    ids.map(async (id): Promise<[OperationId, ExactResponse]> => {
      const response = await sendValid(target, id, { apiKey, headers });
      expectReadableFrom(target.origin, response);
      return [id, response];
    }),
  );
}
