import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPetstoreClient, type TaggedInventoryItem } from '../../../shared/client/index.ts';
import { type LossyProxy, startLossyProxy } from '../cases/lossyProxy.ts';
import { type FaultyTarget, openFaultyTarget } from '../faults/faultyTarget.ts';

const STOCK = 1_000;

describe('clients that sell by updateStock', () => {
  let target: FaultyTarget;
  let lossy: LossyProxy;
  beforeAll(async () => {
    target = await openFaultyTarget();
    lossy = await startLossyProxy(target.baseUrl);
  });
  afterEach(() => target.store.heal());
  afterAll(async () => {
    lossy?.close();
    await target?.close();
  });

  /**
   * Each client sells a piece; every sale must have had its effect, once. Where one fails, or the test's
   * time is over, the others give up too: the next test sells from the same entry.
   */
  async function sellAll(
    clients: number,
    over: AbortSignal,
    baseUrl = target.baseUrl,
  ): Promise<void> {
    const petId = target.fixtures.changeablePetId;
    const owner = createPetstoreClient(target);
    const first = await owner.updateInventory(petId, { quantity: STOCK });
    const failure = new AbortController();
    const signal = AbortSignal.any([over, failure.signal]);
    const sellOne = async () => {
      const client = createPetstoreClient({ ...target, baseUrl });
      let before: TaggedInventoryItem | undefined;
      const change = (entry: TaggedInventoryItem) => {
        before = entry;
        return entry.quantity - 1;
      };
      const after = await client.updateStock(petId, change, { signal });
      return [before?.etag, after] as const;
    };
    const selling = Array.from({ length: clients }, sellOne);
    const sales = new Map(
      await Promise.all(selling).finally(async () => {
        failure.abort();
        await Promise.allSettled(selling);
      }),
    );
    const { items } = await owner.listInventory({ petIds: [petId], include: 'etag' });
    expect(items[0]?.quantity).toBe(STOCK - clients);
    // From the first state to the last, every change is the one effect of one call.
    let state: TaggedInventoryItem | undefined = first;
    for (let sold = 0; sold < clients; sold++) state = sales.get(state?.etag);
    expect(state).toEqual(items[0]);
  }

  it('two of them end with exactly the right count', ({ signal }) => sellAll(2, signal));

  it('and so do fifteen where a tenth of all answers is lost, the database’s to writes and the gateway’s', async ({
    signal,
  }) => {
    for (const action of ['TransactWriteItems', 'GetItem']) {
      target.store.fail({ action, fault: 'lostAnswer', every: 10 });
    }
    await sellAll(15, signal, lossy.baseUrl);
    expect(lossy.lost).toBeGreaterThan(5);
  });
});
