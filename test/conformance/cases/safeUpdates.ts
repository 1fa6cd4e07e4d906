import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../../infra/local/engine/engine.ts';
import type { ExactResponse } from '../../support/exactFetch.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { openLocalTarget } from '../localTarget.ts';
import { setQuantity } from '../operations/inventoryEntry.ts';
import { type ConformanceTarget, send } from '../target.ts';
import { type LossyProxy, startLossyProxy } from './lossyProxy.ts';

const CLIENTS = 50;
const STOCK = 1_000;
/**
 * Milliseconds that a client waits at most before it begins anew, for each that has yet to sell, so that not
 * all do so at once and the last hardly wait.
 */
const MAX_PAUSE = 60;

/** Fifty clients that sell a piece each by what a client is told to do: no sale is lost, and none done twice. */
export function describeSafeUpdates(name: string, startEngine: () => Promise<Engine>): void {
  describe(`fifty clients that sell one entry's stock on ${name}`, () => {
    let store: FaultyEndpoint;
    let target: ConformanceTarget;
    let lossy: LossyProxy;

    beforeAll(async () => {
      const engine = await startEngine();
      store = await startFaultyEndpoint(engine.endpoint);
      const close = async () => {
        await store.close();
        await engine.close();
      };
      target = await openLocalTarget({
        startEngine: async () => ({ endpoint: store.endpoint, close }),
      });
      lossy = await startLossyProxy(target.baseUrl);
    }, 30_000);
    afterEach(() => store.heal());
    afterAll(async () => {
      lossy.close();
      await target.close();
    });

    async function sellAll(through: ConformanceTarget): Promise<Tally> {
      const first = await setQuantity(target, STOCK);
      const tally: Tally = { sales: new Map(), conflicts: 0, lost: 0, unavailable: 0 };
      await Promise.all(Array.from({ length: CLIENTS }, () => sellOne(through, tally)));
      const entry = await readTagged(target);
      expect(entry.quantity).toBe(STOCK - CLIENTS);
      // From the first state to the last every change is the one effect of a 200: a 412 had none.
      const { sales } = tally;
      expect(sales.size).toBe(CLIENTS);
      let etag: string | undefined = first;
      for (let sold = 0; sold < CLIENTS; sold++) etag = sales.get(String(etag));
      expect(etag).toBe(entry.etag);
      expect(tally.conflicts).toBeGreaterThan(CLIENTS / 5);
      return tally;
    }

    test('end with exactly the right count', async () => {
      expect((await sellAll(target)).lost).toBe(0);
    }, 60_000);

    test('end with exactly the right count where a tenth of all answers is lost, the database’s and the gateway’s', async () => {
      for (const action of ['TransactWriteItems', 'GetItem']) {
        store.fail({ action, fault: 'lostAnswer', every: 10 });
      }
      const tally = await sellAll({ ...target, baseUrl: lossy.baseUrl });
      expect(tally.lost).toBeGreaterThan(CLIENTS / 10);
      expect(store.calls.get('TransactWriteItems')).toBeGreaterThan(CLIENTS);
    }, 60_000);
  });
}

interface Tally {
  /** By the tag that an update was sent with, the tag that its 200 came with. */
  readonly sales: Map<string, string>;
  conflicts: number;
  lost: number;
  unavailable: number;
}

/** Reads, subtracts one, writes; repeats what was not answered, and begins anew after a conflict. */
async function sellOne(target: ConformanceTarget, tally: Tally): Promise<void> {
  async function ask(...args: Parameters<typeof send>): Promise<ExactResponse> {
    for (;;) {
      const response = await send(...args).catch(() => undefined);
      if (response === undefined) tally.lost += 1;
      else if (response.status === 503) tally.unavailable += 1;
      else return response;
    }
  }

  for (;;) {
    const { quantity, etag } = await readTagged(target, ask);
    const { status, headers } = await ask(
      target,
      'PATCH',
      `/inventory/${target.fixtures.changeablePetId}`,
      {
        body: JSON.stringify({ quantity: quantity - 1 }),
        headers: {
          'Content-Type': 'application/json',
          'If-Match': etag,
          'Idempotency-Key': randomUUID(),
        },
      },
    );
    if (status === 200) {
      tally.sales.set(etag, String(headers.get('ETag')));
      return;
    }
    expect(status).toBe(412);
    tally.conflicts += 1;
    await setTimeout(Math.random() * MAX_PAUSE * (CLIENTS - tally.sales.size));
  }
}

/** The changeable entry with its tag. */
async function readTagged(
  target: ConformanceTarget,
  ask = send,
): Promise<{ quantity: number; etag: string }> {
  const path = `/inventory?petId=${target.fixtures.changeablePetId}&include=etag`;
  const [entry] = (await ask(target, 'GET', path)).json() as { quantity: number; etag: string }[];
  if (!entry) throw new Error('The changeable entry is missing.');
  return entry;
}
