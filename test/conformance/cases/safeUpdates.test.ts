import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createPetstoreClient } from '../../../shared/client/index.ts';
import { engines } from '../../support/engines.ts';
import { startLossyProxy } from '../../support/faults/lossyProxy.ts';
import { type FaultyTarget, openFaultyStage } from '../localTarget.ts';
import { setQuantity } from '../operations/operationSuite.ts';
import { fixtures } from '../target.ts';

const CLIENTS = 25;
const STOCK = 1_000;

/** Clients sell one piece each by `updateStock`: no sale is lost, and none happens twice. */
describe.each(engines)("many clients that sell one entry's stock on $name", ({ start }) => {
  let target: FaultyTarget;
  let lossy: Awaited<ReturnType<typeof startLossyProxy>>;

  beforeAll(async () => {
    target = await openFaultyStage(fixtures, start);
    lossy = await startLossyProxy(target.baseUrl);
  }, 30_000);
  afterAll(async () => {
    vi.restoreAllMocks();
    lossy?.close();
    await target?.close();
  });

  test('end with exactly the right count where a tenth of all responses is lost, the database’s and the gateway’s', async () => {
    const { apiKey } = target;
    const petId = target.fixtures.changeablePetId;
    for (const action of ['TransactWriteItems', 'GetItem']) {
      target.store.fail({ action, fault: 'lostResponse', every: 10 });
    }
    // A slow clock: the clients pause for a tenth of the time, and give up after ten times as long.
    vi.spyOn(performance, 'now').mockImplementation(() => Date.now() / 10);
    let etag: string | undefined = await setQuantity(target, STOCK);
    let tries = 0;
    /** From the tag before each sale to the tag after it. */
    const sales = new Map<string, string>();
    const sellOne = async () => {
      // Of a thousand requests, one may be lost four times.
      const client = createPetstoreClient({ baseUrl: lossy.baseUrl, apiKey, maxRetries: 20 });
      let before = '';
      const after = await client.updateStock(petId, (entry) => {
        tries += 1;
        before = entry.etag;
        return entry.quantity - 1;
      });
      sales.set(before, after.etag);
    };
    await Promise.all(Array.from({ length: CLIENTS }, sellOne));
    const client = createPetstoreClient({ baseUrl: target.baseUrl, apiKey });
    const { items } = await client.listInventory({ petIds: [petId], include: 'etag' });
    expect(items[0]?.quantity).toBe(STOCK - CLIENTS);
    // Every change from the first state to the last is the effect of one sale: a 412 had none.
    for (let sold = 0; sold < CLIENTS; sold++) etag = sales.get(String(etag));
    expect(etag).toBe(items[0]?.etag);
    expect(tries).toBeGreaterThan(CLIENTS * 1.2);
    expect(lossy.lost()).toBeGreaterThan(CLIENTS / 10);
    expect(target.store.calls.get('TransactWriteItems')).toBeGreaterThan(CLIENTS);
  });
});
