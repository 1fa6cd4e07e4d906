import { getEventListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { pause } from '../../../shared/client/call.ts';
import type { Bounds } from '../../../shared/client/index.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import {
  brokenOff,
  lost,
  type StandInResponse,
  silent,
  toError,
  unfinished,
  useStandIn,
} from './standIn.ts';

const standIn = useStandIn();

const busy = toError(503, 'service_unavailable');
/** A `fetch` that ignores its signal. */
const deaf = (url: string, { signal: _, ...init }: RequestInit) => fetch(url, init);
const entry = { body: '{"petId":7,"quantity":3,"status":"sold"}', headers: { ETag: '"a"' } };

it.each<[string, StandInResponse, sent?: number]>([
  ['429', toError(429, 'too_many_requests', { 'Retry-After': '0' })],
  ['500', toError(500, 'internal_error')],
  ['a proxy’s 502', { status: 502, body: '<html>' }],
  ['a proxy’s 429', { status: 429, headers: { 'Retry-After': '0' }, body: 'Slow down' }],
  ['408', { status: 408, body: '<html>' }],
  ['a lost connection', lost],
  ['a timeout', silent],
  ['a timeout within the body', unfinished(200, '[')],
  ['a list on a broken connection', brokenOff('[{"petId":1,')],
  ['a list that a proxy truncated', { body: '[{"petId":1,' }],
  ['a list that is truncated after an array in it', { body: '\n [{"petId":1,"bins":[]' }],
  ['a list that is truncated within text', { body: '[{"petId":1,"name":"\\"]}]' }],
  ['an empty body', { body: '' }],
  ['an error on a broken connection', brokenOff('{"code":"not_', 404)],
  ['an error that a proxy truncated', { status: 404, body: '{"code":"not_found","message":"' }],
  ['400', toError(400, 'invalid_request'), 1],
  ['a firewall’s 403', { status: 403, body: '<html>' }, 1],
  ['another server’s page with a script', { body: '<script>if (a) { b([' }, 1],
  ['another server’s empty error', { status: 404, body: '' }, 1],
  ['truncated JSON that is not a list', { body: '{"items":[' }, 1],
  ['a list that ends in white space', { body: '[{}]\n' }, 1],
  ['a redirect', { status: 302, headers: { Location: 'http://127.0.0.1:9/' } }, 1],
])('a read is retried if that may help: after %s', async (_, failure, sent = 2) => {
  standIn.responses = [failure, { body: '[]' }];
  const list = () => standIn.open({ timeout: 1_000 }).listInventory();
  const items = await onFastClock(list).then(
    (page) => page.items,
    () => 'failed',
  );
  expect(items).toEqual(sent === 2 ? [] : 'failed');
  expect(standIn.requests).toHaveLength(sent);
});

it.each([
  '',
  '{"petId":7,"shelf":"}',
  '{"petId":7,"shelf":"\\"}',
  '{"petId":7,"quantity":3,"status":"sold"',
  '{"petId":7,"shelf":{"id":1,"name":"A"}',
])('an entry that a proxy truncates is read again: %s', async (text) => {
  standIn.responses = [{ body: text }, entry];
  expect(await standIn.open().getInventoryEntry(7n)).toMatchObject({ petId: 7n });
  standIn.responses = [{ body: text }];
  const call = standIn.open({ maxRetries: 0 }).getInventoryEntry(7n);
  const message = 'The response was truncated.';
  await expect(call).rejects.toMatchObject({ code: 'connection_failed', status: 200, message });
});

describe('a read is retried', () => {
  it.each([
    [undefined, 4],
    [0, 1],
  ])('at most maxRetries times: with %s, %i requests', async (maxRetries, count) => {
    standIn.responses = [busy];
    const call = standIn.open({ maxRetries }).listOrders();
    await expect(call).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(standIn.requests).toHaveLength(count);
  });

  it('no sooner than Retry-After says', async () => {
    standIn.responses = [toError(429, 'too_many_requests', { 'Retry-After': '1' }), {}];
    await onFastClock(() => standIn.open().listInventory());
    const [first = 0, second = 0] = standIn.requests.map(({ time }) => time);
    expect(second - first).toBeGreaterThanOrEqual(990);
  });

  it('after 429 until totalTimeout: waiting is no failure', async () => {
    const throttled = toError(429, 'too_many_requests');
    standIn.responses = [throttled, throttled, {}];
    const client = standIn.open({ maxRetries: 0 });
    expect((await onFastClock(() => client.listInventory())).items).toEqual([]);
    standIn.responses = [throttled];
    const call = onFastClock(() => client.listInventory({}, { totalTimeout: 1_500 }));
    await expect(call).rejects.toMatchObject({ code: 'too_many_requests', attempts: 2 });
  });

  it('not if Retry-After leaves no time: the error says how long to wait', async () => {
    standIn.responses = [toError(429, 'too_many_requests', { 'Retry-After': '60' })];
    const call = standIn.open({ totalTimeout: 59_000 }).listInventory();
    await expect(call).rejects.toMatchObject({ code: 'too_many_requests', retryAfter: 60 });
    expect(standIn.requests).toHaveLength(1);
  });

  it('after random pauses that grow', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.01);
    const set = vi.spyOn(globalThis, 'setTimeout');
    const own = async () => new Response(busy.body, busy as ResponseInit);
    await expect(standIn.open({ fetch: own }).listInventory()).rejects.toThrow();
    const pauses = set.mock.calls.map(([, milliseconds]) => milliseconds);
    expect(pauses).toEqual(expect.arrayContaining([2, 8, 20]));
  });
});

const reason = new Error('the customer left');

/** As of React Native and of older browsers: without `reason`, `throwIfAborted` and static methods. */
class OldSignal extends EventTarget {
  aborted = false;
}

class OldController {
  readonly signal = new OldSignal() as unknown as AbortSignal;
  abort(): void {
    Object.assign(this.signal, { aborted: true });
    this.signal.dispatchEvent(new Event('abort'));
  }
}

const aborted = { name: 'AbortError', message: 'The call was aborted.' };

describe.each([
  ['an AbortSignal ends a call with its reason', () => new AbortController(), reason],
  ['an AbortSignal without a reason ends a call', () => new OldController(), aborted],
])('%s', (_, openController, expected) => {
  it.each<[string, StandInResponse | undefined]>([
    ['before anything is sent', undefined],
    ['while it waits for the response', silent],
    ['within the body', unfinished(200, '[')],
    ['within an error’s body', unfinished(503, '{')],
    ['in a pause of any length', toError(503, 'service_unavailable', { 'Retry-After': '50' })],
  ])(
    '%s',
    async (_, response) => {
      const controller = openController();
      const count = response ? 1 : 0;
      if (response) standIn.responses = [response];
      else controller.abort(reason);
      const call = standIn.open().listInventory({}, { signal: controller.signal });
      const ended = call.catch((error) => error);
      await expect.poll(() => standIn.requests, { interval: 5 }).toHaveLength(count);
      setTimeout(() => controller.abort(reason), 20);
      if (expected === reason) expect(await ended).toBe(reason);
      else expect(await ended).toMatchObject(expected);
      expect(standIn.requests).toHaveLength(count);
    },
    // Before the pause is over.
    40_000,
  );
});

describe('an AbortSignal', () => {
  it('that onResponse aborts ends a call, although fetch ignores its own', async () => {
    standIn.responses = [unfinished(200, '[')];
    const controller = new AbortController();
    const client = standIn.open({ fetch: deaf, onResponse: () => controller.abort(reason) });
    const call = client.listInventory({}, { signal: controller.signal });
    await expect(call).rejects.toBe(reason);
  });

  it('that was aborted before a pause leaves no timer', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await pause(60_000, AbortSignal.abort(reason));
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each<[string, StandInResponse]>([
    ['without a response', silent],
    ['within the body', unfinished(200, '[')],
  ])('of every fetch may have no reason, but the caller gets it: %s', async (_, response) => {
    const { AbortController } = globalThis;
    // Node.js takes only its own signals.
    const own = (url: string, init: RequestInit) => {
      const controller = new AbortController();
      init.signal?.addEventListener('abort', () => controller.abort());
      return fetch(url, { ...init, signal: controller.signal });
    };
    standIn.responses = [response];
    vi.stubGlobal('AbortController', OldController);
    onTestFinished(() => void vi.unstubAllGlobals());
    const client = standIn.open({ fetch: own, timeout: 50, maxRetries: 0 });
    const message = 'Timed out after 50 ms.';
    await expect(client.listInventory()).rejects.toMatchObject({ code: 'timeout', message });
    const signal = AbortSignal.timeout(20);
    const call = client.listInventory({}, { signal, timeout: 5_000 });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('a timeout', () => {
  it('ends an attempt without a response', async () => {
    standIn.responses = [silent];
    const call = standIn.open().listInventory({}, { timeout: 50, maxRetries: 0 });
    const message = 'Timed out after 50 ms.';
    await expect(call).rejects.toMatchObject({ code: 'timeout', message, effect: 'none' });
    await standIn.requests[0]?.closed;
  });

  it.each<[string, number, Bounds]>([
    ['a list', 200, { timeout: 60 }],
    ['the last attempt', 200, { totalTimeout: 60 }],
    ['an error', 503, { timeout: 60 }],
  ])(
    'ends %s that stalls, although fetch ignores its signal, and its connection',
    async (...row) => {
      const [, status, bounds] = row;
      standIn.responses = [unfinished(status, '[')];
      // So that the response has started before the timeout, on any machine.
      await onFastClock(async () => {
        const client = standIn.open({ fetch: deaf, maxRetries: 0, ...bounds });
        await expect(client.listInventory()).rejects.toMatchObject({ code: 'timeout' });
      }, 1);
      await standIn.requests[0]?.closed;
    },
  );

  it('for the whole call ends the current attempt, and allows no other', async () => {
    standIn.responses = [silent];
    await onFastClock(async () => {
      const started = performance.now();
      const call = standIn.open({ totalTimeout: 1_000, maxRetries: 100 }).listInventory();
      await expect(call).rejects.toMatchObject({ code: 'timeout', status: undefined });
      expect(performance.now() - started).toBeLessThan(1_500);
    });
  });

  it('and a signal are released when the call is done, for each attempt and chunk', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout');
    const cleared = vi.spyOn(globalThis, 'clearTimeout');
    const signals: AbortSignal[] = [new AbortController().signal];
    const statuses = [503, 503, 200];
    const own = async (_: string, { signal }: RequestInit) => {
      signals.push(signal as AbortSignal);
      const chunks = ['[', ...Array(99).fill(`${entry.body},`), `${entry.body}]`];
      const body = ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
      return new Response(body, { status: statuses.shift() ?? 0 });
    };
    const options = { timeout: 12_345, signal: signals[0] };
    const { items } = await standIn.open({ fetch: own }).listInventory({}, options);
    expect(items).toHaveLength(100);
    const timers = set.mock.results.filter((_, index) => set.mock.calls[index]?.[1] === 12_345);
    expect([timers.length, signals.length]).toEqual([3, 4]);
    for (const { value } of timers) expect(cleared).toHaveBeenCalledWith(value);
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  });
});
