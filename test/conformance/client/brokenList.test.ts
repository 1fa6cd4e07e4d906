import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPetstoreClient } from '../../../shared/client/index.ts';
import { type FaultyTarget, openFaultyTarget } from '../faults/faultyTarget.ts';

let target: FaultyTarget;
beforeAll(async () => {
  target = await openFaultyTarget();
});
afterAll(() => target?.close());

const breakOff = () => {
  target.store.heal();
  target.store.pageSize = 10;
  target.store.fail({ action: 'Scan', fault: 'accessDenied', after: 2 });
};

it('a list whose database fails in its middle is incomplete_list, streamed and whole', async () => {
  const client = createPetstoreClient({ ...target, maxRetries: 0 });
  breakOff();
  const petIds: bigint[] = [];
  const reading = (async () => {
    for await (const { petId } of client.streamInventory()) petIds.push(petId);
  })();
  await expect(reading).rejects.toMatchObject({ code: 'incomplete_list', status: 200 });
  expect(petIds.length).toBeGreaterThan(0);
  expect(petIds.length).toBeLessThan(target.fixtures.inventory.length);
  breakOff();
  await expect(client.listInventory()).rejects.toMatchObject({ code: 'incomplete_list' });
});
