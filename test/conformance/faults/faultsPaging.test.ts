import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { useNoBackOff } from '../../support/faults/backOff.ts';
import { expectSuccess } from '../expectations.ts';
import { sendValid } from '../operations/suites.ts';
import { send } from '../target.ts';
import { type FaultyTarget, openFaultyTarget, toStoreCalls } from './faultyTarget.ts';

let target: FaultyTarget;
useNoBackOff();
beforeAll(async () => {
  target = await openFaultyTarget();
}, 30_000);
afterEach(() => target.store.heal());
afterAll(() => target?.close());

describe('listInventory in the middle of its list', () => {
  test('goes on after a page that had to be asked for twice', async () => {
    target.store.pageSize = 10;
    target.store.fail({ ...toStoreCalls('listInventory'), fault: 'throttled', after: 2, times: 1 });
    const response = await sendValid(target, 'listInventory');
    expectSuccess(response, 'listInventory');
    expect(response.json()).toHaveLength(target.fixtures.inventory.length);
  });

  test.each(['throttled', 'accessDenied', 'reset'] as const)(
    'breaks the connection when the next page ends in %s: half a list is never taken for a whole one',
    async (fault) => {
      target.store.pageSize = 10;
      target.store.fail({ ...toStoreCalls('listInventory'), fault, after: 2 });
      const broken = { code: 'ECONNRESET' };
      await expect(sendValid(target, 'listInventory')).rejects.toMatchObject(broken);
      target.store.heal();
      expectSuccess(await sendValid(target, 'listInventory'), 'listInventory');
    },
  );

  test.each(['gzip', 'zstd'])('breaks the connection of a list in %s too', async (coding) => {
    target.store.pageSize = 30;
    const headers = { 'Accept-Encoding': coding };
    const whole = await sendValid(target, 'listInventory', { headers });
    expect(whole.headers.get('Content-Encoding')).toBe(coding);
    target.store.fail({ ...toStoreCalls('listInventory'), fault: 'accessDenied', after: 1 });
    const broken = { code: 'ECONNRESET' };
    await expect(sendValid(target, 'listInventory', { headers })).rejects.toMatchObject(broken);
  });
});

test('listOrders links what a short answer of the database leaves out', async () => {
  target.store.pageSize = 2;
  const response = await sendValid(target, 'listOrders');
  expectSuccess(response, 'listOrders');
  const [, next = ''] = /^<\/v1(.*)>; rel="next"$/.exec(response.headers.get('Link') ?? '') ?? [];
  target.store.heal();
  const rest = await send(target, 'GET', next);
  const listed = [...(response.json() as unknown[]), ...(rest.json() as unknown[])];
  expect(listed).toHaveLength(target.fixtures.orders.length);
});
