import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { useNoBackOff } from '../../support/faults/clock.ts';
import { expectError, expectReadableFrom, expectSuccess } from '../expectations.ts';
import { addApiKey, type FaultyTarget, openFaultyStage } from '../localTarget.ts';
import { sendValid } from '../operations/suites.ts';
import { send } from '../target.ts';

// `test/proofs/faults` has what every operation returns after each fault of a call, and `runtime.test.ts` the lists that
// break off.

let target: FaultyTarget;
useNoBackOff();
beforeAll(async () => {
  target = await openFaultyStage();
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

const errors = [
  ['throttled', 'service_unavailable'],
  ['accessDenied', 'internal_error'],
] as const;

test.each(errors)('%s gives each operation %s, which leaks nothing', async (fault, code) => {
  // Each operation has now cached the key.
  await sendAll();
  target.store.fail({ fault });
  for (const [id, response] of await sendAll()) {
    expectError(response, code, id);
    expect(response.text).not.toMatch(/secret|petstore|table|resource/i);
  }
});

test.each(errors)('%s of the key table is %s, valid or not', async (fault, code) => {
  const valid = await addApiKey('write');
  target.store.fail({ table: String(process.env.API_KEYS_TABLE), fault });
  for (const apiKey of [valid, mintApiKey().apiKey]) {
    for (const [id, response] of await sendAll(apiKey)) expectError(response, code, id);
  }
  await target.store.heal();
  for (const [id, response] of await sendAll(valid)) expectSuccess(response, id);
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
