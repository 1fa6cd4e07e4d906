import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { onFastClock } from '../../support/faults/fastClock.ts';
import {
  brokenOff,
  lost,
  type StandIn,
  silent,
  startStandIn,
  toError,
  unfinished,
} from './standIn.ts';

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn();
});
afterAll(() => standIn.close());
beforeEach(() => {
  standIn.requests.length = 0;
  // No pause is longer than it must be.
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => vi.restoreAllMocks());

const busy = toError(503, 'service_unavailable');
const limited = toError(429, 'too_many_requests');
const entry = { headers: { ETag: '"b"' }, body: '{"petId":7,"quantity":5,"status":"sold"}' };

describe('what only reads is sent again', () => {
  it.each([
    ['429', limited],
    ['500', toError(500, 'internal_error')],
    ['503', busy],
    ['a proxy’s 502', { status: 502, body: '<html>' }],
    ['a lost connection', lost],
    ['a list that broke off', brokenOff('[{"petId":1,')],
    ['a list that a proxy cut', { body: '[{"petId":1,' }],
    ['a timeout', silent],
    ['a timeout within the body', unfinished(200, '[')],
  ] as const)('after %s', async (_, failure) => {
    standIn.answers = [failure, { body: '[]' }];
    const { items } = await standIn.open({ timeout: 100 }).listInventory();
    expect(items).toEqual([]);
    expect(standIn.requests).toHaveLength(2);
  });

  it.each([
    ['400', toError(400, 'invalid_request')],
    ['401', toError(401, 'unauthorized')],
    ['404', toError(404, 'not_found')],
    ['what is not the service', { body: '<html>' }],
    ['a redirect', { status: 302, headers: { Location: 'http://127.0.0.1:9/' } }],
  ] as const)('not after %s', async (_, failure) => {
    standIn.answers = [failure];
    await expect(standIn.open().listInventory()).rejects.toThrow();
    expect(standIn.requests).toHaveLength(1);
  });

  it.each([
    [undefined, 4],
    [0, 1],
    [1, 2],
  ])('at most maxRetries times: with %s, %i requests', async (maxRetries, count) => {
    standIn.answers = [busy];
    const call = standIn.open({ maxRetries }).listOrders();
    await expect(call).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(standIn.requests).toHaveLength(count);
  });

  it.each([
    ['1', 1_000],
    // Dates have whole seconds: this one is 1 to 2 seconds away.
    [() => new Date(Date.now() + 2_000).toUTCString(), 1_000],
  ])('no sooner than Retry-After lets it: %s', async (value, least) => {
    await onFastClock(async () => {
      const header = typeof value === 'string' ? value : value();
      standIn.answers = [toError(429, 'too_many_requests', { 'Retry-After': header }), {}];
      await standIn.open().listInventory();
    });
    const [first, second] = standIn.requests.map(({ time }) => time);
    expect(Number(second) - Number(first)).toBeGreaterThanOrEqual(least - 10);
  });

  it('not where Retry-After leaves no time: the error says how long to wait', async () => {
    standIn.answers = [toError(429, 'too_many_requests', { 'Retry-After': '60' })];
    const call = standIn.open({ totalTimeout: 59_000 }).listInventory();
    await expect(call).rejects.toMatchObject({ code: 'too_many_requests', retryAfter: 60 });
    expect(standIn.requests).toHaveLength(1);
  });

  it('after pauses that double and are drawn at random', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.1);
    standIn.answers = [busy];
    await expect(standIn.open().listInventory()).rejects.toThrow();
    expect(random).toHaveBeenCalledTimes(3);
    const times = standIn.requests.map(({ time }) => time);
    const pauses = times.slice(1).map((time, index) => time - Number(times[index]));
    for (const [index, least] of [20, 40, 80].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(least - 2);
    }
  });
});

describe('an update', () => {
  it.each([
    ['500', busy],
    ['a lost connection', lost],
    ['a timeout', silent],
  ] as const)(
    'with If-Match is sent again after %s, with one key for all attempts',
    async (_, failure) => {
      standIn.answers = [failure, failure, entry, failure, entry];
      const client = standIn.open({ timeout: 100 });
      await client.updateInventory(7n, { quantity: 5 }, { ifMatch: '"a"' });
      await client.updateInventory(7n, { quantity: 5 }, { ifMatch: '"a"' });
      const sent = standIn.requests.map(({ method, url, headers, body }) => [
        `${method} ${url} ${headers['if-match']} ${body}`,
        headers['idempotency-key'],
      ]);
      expect(sent.map(([request]) => request)).toEqual(
        Array(5).fill('PATCH /v1/inventory/7 "a" {"quantity":5}'),
      );
      const keys = sent.map(([, key]) => key);
      expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
      expect(new Set(keys.slice(0, 3)).size).toBe(1);
      expect(new Set(keys.slice(3)).size).toBe(1);
      expect(keys[3]).not.toBe(keys[0]);
    },
  );

  it('is sent with the caller’s key where there is one', async () => {
    standIn.answers = [lost, entry];
    const keyed = { ifMatch: '"a"', idempotencyKey: 'mine' };
    await standIn.open().updateInventory(7n, { quantity: 5 }, keyed);
    expect(standIn.requests.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'mine',
      'mine',
    ]);
  });

  it.each([
    ['503', busy],
    ['a lost connection', lost],
    ['a timeout', silent],
  ] as const)(
    'without If-Match is not sent again after %s, which may have had its effect',
    async (_, failure) => {
      standIn.answers = [failure, entry];
      const call = standIn.open({ timeout: 100 }).updateInventory(7n, { quantity: 5 });
      await expect(call).rejects.toThrow();
      expect(standIn.requests).toHaveLength(1);
      expect(standIn.requests[0]?.headers).not.toHaveProperty('idempotency-key');
      standIn.answers = [{}];
    },
  );

  it('without If-Match is sent again after 429, which had none', async () => {
    standIn.answers = [limited, entry];
    const updated = await standIn.open().updateInventory(7n, { quantity: 5 });
    expect(updated).toEqual({ petId: 7n, quantity: 5, status: 'sold', etag: '"b"' });
    expect(standIn.requests).toHaveLength(2);
  });

  it('is not sent again after 412', async () => {
    standIn.answers = [toError(412, 'precondition_failed')];
    const call = standIn.open().updateInventory(7n, { quantity: 5 }, { ifMatch: '"a"' });
    await expect(call).rejects.toMatchObject({ code: 'precondition_failed', status: 412 });
    expect(standIn.requests).toHaveLength(1);
  });
});
