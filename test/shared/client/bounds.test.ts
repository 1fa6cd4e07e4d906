import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PetstoreError } from '../../../shared/client/index.ts';
import { pause } from '../../../shared/client/retries.ts';
import { type StandIn, silent, startStandIn, toError, unfinished } from './standIn.ts';

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn();
});
afterAll(() => standIn.close());
beforeEach(() => {
  standIn.requests.length = 0;
});

const reason = new Error('the customer left');

/** Aborts once the stand-in has got a request. */
async function abortOnRequest(controller: AbortController): Promise<void> {
  while (standIn.requests.length === 0) await new Promise(setImmediate);
  controller.abort(reason);
}

describe('an AbortSignal ends a call with its reason', () => {
  it('before anything is sent', async () => {
    const call = standIn.open().listInventory({}, { signal: AbortSignal.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(standIn.requests).toEqual([]);
  });

  it.each([
    ['while the answer is waited for', silent],
    ['within the body', unfinished(200, '[')],
    ['within an error’s body', unfinished(503, '{')],
  ] as const)('%s', async (_, answer) => {
    standIn.answers = [answer];
    const controller = new AbortController();
    const call = standIn.open().listInventory({}, { signal: controller.signal });
    await Promise.all([expect(call).rejects.toBe(reason), abortOnRequest(controller)]);
    expect(standIn.requests).toHaveLength(1);
  });

  it('in a pause, however long', async () => {
    const controller = new AbortController();
    const abortSoon = () => setTimeout(() => controller.abort(reason), 50);
    standIn.answers = [
      (response) => void response.writeHead(503, { 'Retry-After': '50' }).end('{}', abortSoon),
    ];
    const call = standIn.open().listInventory({}, { signal: controller.signal });
    await expect(call).rejects.toBe(reason);
    expect(standIn.requests).toHaveLength(1);
  }, 2_000);

  it('that came before a pause', () => pause(60_000, AbortSignal.abort(reason)), 1_000);

  it('in updateStock, before anything is written', async () => {
    standIn.answers = [{ body: '[{"petId":7,"quantity":5,"status":"sold","etag":"\\"a\\""}]' }];
    const controller = new AbortController();
    const change = () => {
      controller.abort(reason);
      return 4;
    };
    const call = standIn.open().updateStock(7n, change, { signal: controller.signal });
    await expect(call).rejects.toBe(reason);
    expect(standIn.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});

describe('a timeout', () => {
  it.each([
    ['without an answer', silent],
    ['without the end of its body', unfinished(200, '[')],
  ] as const)('ends an attempt %s', async (_, answer) => {
    standIn.answers = [answer];
    const call = standIn.open().listInventory({}, { timeout: 50, maxRetries: 0 });
    await expect(call).rejects.toThrow(new PetstoreError('timeout', 'Nothing came for 50 ms.'));
    await standIn.requests[0]?.closed;
  });

  it('for the whole call ends the attempt under way, and allows none after it', async () => {
    standIn.answers = [silent];
    const started = performance.now();
    const call = standIn.open({ totalTimeout: 80, maxRetries: 100 }).listInventory();
    await expect(call).rejects.toMatchObject({ code: 'timeout', status: undefined });
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  it('and a signal are let go of when the call is done', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    standIn.answers = [toError(503, 'service_unavailable'), {}];
    const { signal } = new AbortController();
    const options = { timeout: 12_345, signal };
    await standIn.open().listInventory({}, options);
    for await (const _ of standIn.open().streamInventory({}, options));
    const timers = set.mock.results.filter((_, index) => set.mock.calls[index]?.[1] === 12_345);
    expect(timers.length).toBeGreaterThanOrEqual(4);
    for (const { value } of timers) expect(cleared).toHaveBeenCalledWith(value);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    vi.restoreAllMocks();
  });
});
