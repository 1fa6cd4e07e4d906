import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLocalTarget } from '../../conformance/localTarget.ts';
import type { ConformanceTarget } from '../../conformance/target.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { runKilledShop } from './killedShop.ts';

const petIds = [-9007199254740993n, 0n, 1n, 2n, 3n];
const inventory = petIds.map((petId) => ({ petId, quantity: 9, status: 'available' as const }));

let target: ConformanceTarget;
const { toPath } = openTemporaryFolder();
beforeAll(async () => {
  // Half of the responses, so that some steps get none in four attempts. A 500 has no `Retry-After`.
  const faultInjection = { lostShare: 0.5, failures: [{ status: 500, share: 0.1 }] };
  target = await openLocalTarget({ data: { inventory, pets: [], orders: [] }, faultInjection });
});
afterAll(() => target?.close());

it('shop.ts settles every step over a kill, and its database is the stock', async () => {
  const database = toPath('shop.db');
  const killed = await runKilledShop({
    ...target,
    database,
    petIds,
    orders: 15,
    customers: 15,
    kills: 1,
  });
  expect(killed).toMatchObject({ open: 0, difference: 0 });
  expect(killed.done).toBeGreaterThan(5);
  expect(killed.refused).toBeGreaterThan(0);
});
