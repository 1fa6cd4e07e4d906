import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { UpdatePreconditions } from '../../../shared/client/index.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import {
  brokenOff,
  lost,
  type StandInResponse,
  silent,
  toError,
  unfinished,
  unknownPath,
  useStandIn,
} from './standIn.ts';

const standIn = useStandIn();

const body = '{"petId":7,"quantity":3,"status":"sold"}';
const written = { headers: { ETag: '"c"' }, body };
const toEntry = (quantity: number, etag: string) => ({
  headers: { ETag: `"${etag}"` },
  body: body.replace('3', `${quantity}`),
});
const outcomes = {
  none: 'The update was not applied.',
  unknown: 'The update may or may not have been applied.',
  applied: 'It is idempotency_key_reused.',
};
const conflict = toError(412, 'precondition_failed');

/** The requests, without the keys of the updates. */
const sent = () =>
  standIn.requests.map(({ method, url, headers, body }) =>
    [method, url, headers['if-match'], body].join(' ').trim(),
  );
const keys = () => standIn.requests.map(({ headers }) => headers['idempotency-key']);

const forbidden = toError(403, 'forbidden');
const throttled = toError(429, 'too_many_requests', { 'Retry-After': '60' });
const reused = toError(422, 'idempotency_key_reused');
const nowhere = (code?: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });

const ifMatch = '"a"';
const idempotencyKey = 'order-1234';
const anyKey = expect.stringMatching(/^(\d{1,3}-){15}\d{1,3}$/);

type Row = [string, StandInResponse, UpdatePreconditions, attempts: number, key?: unknown];

/** The outcome of a first attempt is unknown. */
const unsure = (name: string, failure: StandInResponse): Row[] => [
  [name, failure, {}, 1],
  [name, failure, { idempotencyKey }, 3, idempotencyKey],
  [name, failure, { ifMatch, idempotencyKey }, 3, idempotencyKey],
  [name, failure, { ifMatch }, 3, anyKey],
];

describe('an update', () => {
  it.each<Row>([
    ...unsure('503', toError(503, 'service_unavailable')),
    ...unsure('a lost connection', lost),
    ...unsure('a timeout', silent),
    ...unsure('408', { status: 408, body: '<html>' }),
    ...unsure('a response that a proxy truncated', { ...written, body: body.slice(0, -1) }),
    ...unsure('a response whose body a proxy removed', { ...written, body: '' }),
    ...unsure('a truncated refusal', { status: 404, body: forbidden.body.slice(0, 30) }),
    ...unsure('a proxy’s 429', { status: 429, body: 'Slow down' }),
    ['429', toError(429, 'too_many_requests'), {}, 3],
    ['no connection', nowhere('ECONNREFUSED'), {}, 3],
    ['412', conflict, { ifMatch }, 1, anyKey],
  ])('after %s is sent as often as is safe, with one key: %3$o', async (...row) => {
    const [, failure, preconditions, attempts, key] = row;
    standIn.responses = [failure, failure, written];
    const client = standIn.open({ fetch: standIn.fetch, timeout: 2_000 });
    const update = () => client.updateInventory(7n, { quantity: 5 }, preconditions);
    const updated = await onFastClock(update).catch((error) => error.attempts);
    const entry = { petId: 7n, quantity: 3, status: 'sold', etag: '"c"' };
    expect(updated).toEqual(attempts === 3 ? entry : 1);
    const requests = failure instanceof Error ? 1 : attempts;
    const line = ['PATCH /v1/inventory/7', preconditions.ifMatch, '{"quantity":5}'].join(' ');
    expect(sent()).toEqual(Array(requests).fill(line));
    expect(keys()).toEqual(Array(requests).fill(key));
    expect(new Set(keys()).size).toBe(1);
  });

  it.each([
    [{ body, headers: { ETag: '' } }, 'The tag is missing.'],
    [{ body }, 'The tag is missing.'],
    [{ ...written, body: body.replace('7', '8') }, 'It is about another entry.'],
  ])('fails by a response that no safe update could follow: %j', async (response, told) => {
    standIn.responses = [response];
    const call = standIn.open().updateInventory(7n, { quantity: 5 });
    const message = `The response is not a valid updateInventory response. ${outcomes.unknown}`;
    const cause = { message: told };
    const failure = { code: 'invalid_answer', effect: 'unknown', message, cause };
    await expect(call).rejects.toMatchObject(failure);
  });

  it.each([0, 2_147_483_647])('may set a count of %i', async (quantity) => {
    standIn.responses = [written];
    await standIn.open().updateInventory(7n, { quantity });
    expect(sent()).toEqual([`PATCH /v1/inventory/7  {"quantity":${quantity}}`]);
  });
});

/** Refusals of others, after the service has perhaps applied the update. */
const foreign: StandInResponse[] = [
  { status: 403, body: '<html>Blocked</html>' },
  { status: 403, body: '{"message":"Forbidden"}' },
  { status: 404, body: 'default backend - 404' },
  { status: 401, body: '' },
  { status: 451, body: 'Unavailable' },
  { status: 429, headers: { 'Retry-After': '60' }, body: 'Slow down' },
  { status: 413, body: '{"message":"Request Too Long"}' },
  { status: 412, body: '<html>' },
  { status: 422, body: '{"code":"x"}' },
  // Nearly the service's.
  { ...forbidden, status: 404 },
  { status: 403, body: '{"code":"forbidden","message":"No.","status":404}' },
  { status: 403, body: '{"code":"forbidden","message":"No.","status":"403"}' },
  { status: 403, body: '{"code":"forbidden","message":"No."}' },
  { status: 403, body: '{"code":"forbidden","message":null,"status":403}' },
  { status: 403, body: '{"code":["forbidden"],"message":"No.","status":403}' },
  { status: 403, body: '{"code":"invalid_answer","message":"No.","status":403}' },
  { status: 403, body: `[${forbidden.body}]` },
  { status: 403, body: '"forbidden"' },
  { status: 206, body, headers: { ETag: '"c"' } },
];

describe('an error says what the update did', () => {
  it.each<[keyof typeof outcomes, string, ...StandInResponse[]]>([
    ['none', 'forbidden', forbidden],
    // For example from a firewall: only 429 and 503 are waited for.
    ['none', 'forbidden', toError(403, 'forbidden', { 'Retry-After': '1' })],
    ['none', 'too_many_requests', throttled],
    ['none', 'precondition_failed', conflict],
    // The base address leads elsewhere, so the entry may exist.
    ['none', 'invalid_answer', unknownPath],
    ['none', 'connection_failed', nowhere('ECONNREFUSED')],
    ['none', 'connection_failed', nowhere('ENOTFOUND')],
    ['none', 'connection_failed', nowhere('EAI_AGAIN')],
    ['unknown', 'connection_failed', nowhere('ECONNRESET')],
    // A browser does not say why.
    ['unknown', 'connection_failed', new TypeError('Failed to fetch')],
    ['unknown', 'connection_failed', lost],
    ['unknown', 'connection_failed', brokenOff('{"petId":')],
    ['unknown', 'timeout', silent],
    ['unknown', 'timeout', unfinished(200, '{')],
    ['unknown', 'service_unavailable', toError(503, 'service_unavailable')],
    ['unknown', 'internal_error', toError(500, 'internal_error')],
    ['unknown', 'service_unavailable', { status: 502, body: '<html>' }],
    ['unknown', 'invalid_answer', { body: '<html>' }],
    ['unknown', 'invalid_answer', { status: 302 }],
    ['unknown', 'invalid_answer', { status: 408 }],
    // Only the service's own Error body says that nothing happened.
    ...foreign.map((response): ['unknown', string, StandInResponse] => [
      'unknown',
      'invalid_answer',
      response,
    ]),
    ['unknown', 'service_unavailable', { status: 500, body: forbidden.body }],
    ['unknown', 'invalid_answer', lost, { status: 412, body: '' }],
    ['unknown', 'connection_failed', brokenOff('{"code":"forbidden",', 403)],
    ['applied', 'idempotency_key_reused', reused],
    // A refusal of a retry says nothing about an attempt before it.
    ['unknown', 'forbidden', lost, forbidden],
    ['unknown', 'unauthorized', lost, toError(401, 'unauthorized')],
    ['unknown', 'not_found', lost, toError(404, 'not_found')],
    ['unknown', 'too_many_requests', lost, throttled],
    ['unknown', 'connection_failed', lost, nowhere('ECONNREFUSED')],
    ['none', 'forbidden', nowhere('ECONNREFUSED'), forbidden],
    // Had the first attempt been applied, the retry would have got its response.
    ['none', 'precondition_failed', lost, conflict],
    ['applied', 'idempotency_key_reused', lost, reused],
  ])('%s: %s', async (effect, code, ...course) => {
    standIn.responses = [...course];
    const attempts = course.length;
    const { fetch } = standIn;
    const client = standIn.open({ fetch, timeout: 1_000, maxRetries: attempts - 1 });
    const update = () => client.updateInventory(7n, { quantity: 5 }, { ifMatch });
    const error = await onFastClock(update).catch((cause) => cause);
    expect(error).toMatchObject({ effect, code, attempts, operationId: 'updateInventory' });
    expect(error.message).toMatch(new RegExp(`(^|\\. )${outcomes[effect]}$`));
  });

  it('none: the key did not come in time', async () => {
    const client = standIn.open({
      apiKey: () => new Promise(() => {}),
      timeout: 20,
      maxRetries: 0,
    });
    const update = client.updateInventory(7n, { quantity: 5 });
    await expect(update).rejects.toMatchObject({ code: 'timeout', effect: 'none' });
  });
});

/** Milliseconds. */
const SLOW = 1_000;
const slowConflict: StandInResponse = (response) =>
  void setTimeout(() => response.writeHead(412).end(conflict.body), SLOW);

describe('updateStock', () => {
  it('starts over after 412 and a pause, with the current entry and the same key', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    standIn.responses = [toEntry(5, 'a'), slowConflict, toEntry(4, 'b'), written];
    const seen: unknown[] = [];
    const sell = () =>
      standIn.open().updateStock(7n, async (entry) => {
        seen.push(entry);
        return entry.quantity - 1;
      });
    const updated = await onFastClock(sell);
    expect(seen).toEqual([
      { petId: 7n, quantity: 5, status: 'sold', etag: '"a"' },
      { petId: 7n, quantity: 4, status: 'sold', etag: '"b"' },
    ]);
    expect(updated).toEqual({ petId: 7n, quantity: 3, status: 'sold', etag: '"c"' });
    expect(sent()).toEqual([
      'GET /v1/inventory/7',
      'PATCH /v1/inventory/7 "a" {"quantity":4}',
      'GET /v1/inventory/7',
      'PATCH /v1/inventory/7 "b" {"quantity":3}',
    ]);
    expect(keys()).toEqual([undefined, expect.any(String), undefined, keys()[1]]);
    const [, refused = 0, anew = 0] = standIn.requests.map(({ time }) => time);
    expect(anew - refused).toBeGreaterThanOrEqual(SLOW + 4 * SLOW - 2);
  });

  it('pauses for at most 20 times an attempt, and for at most 5 seconds', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const durations = [40, 40, 40, 40, 40, SLOW];
    const pauses: number[] = [];
    let failed: number | undefined;
    const own = async (_: string, { method }: RequestInit) => {
      if (method === 'GET') {
        if (failed !== undefined) pauses.push(performance.now() - failed);
        return new Response(body, written);
      }
      const duration = durations.shift();
      if (duration === undefined) return new Response(body, written);
      await new Promise((resolve) => setTimeout(resolve, duration));
      failed = performance.now();
      return new Response(conflict.body, conflict as ResponseInit);
    };
    const updating = standIn.open({ fetch: own }).updateStock(7n, () => 1);
    await vi.runAllTimersAsync();
    await updating;
    expect(pauses).toEqual([160, 320, 640, 800, 800, 5_000]);
  });

  it('uses the caller’s key for every attempt, and the next call another one', async () => {
    standIn.responses = [toEntry(5, 'a'), lost, conflict, toEntry(4, 'b'), written];
    await standIn.open().updateStock(7n, () => 1, { idempotencyKey });
    const own = idempotencyKey;
    expect(keys()).toEqual([undefined, own, own, undefined, own]);
    standIn.responses = [toEntry(5, 'a'), written, toEntry(5, 'a'), written];
    for (const _ of 'ab') await standIn.open().updateStock(7n, () => 1);
    expect(new Set(keys()).size).toBe(4);
  });

  it.each(['W/"a"', '"AAAACQBh-gzip"', '"AAAACQBh;br"'])(
    'does not start over for ever if a proxy changes each ETag to %s',
    async (ETag) => {
      standIn.responses = [{ body, headers: { ETag } }];
      const client = standIn.open();
      const message = expect.stringMatching(/^A proxy changed the ETag.* compression/);
      const failure = { code: 'invalid_answer', status: 200, effect: 'none', message };
      await expect(client.updateStock(7n, () => 1)).rejects.toMatchObject(failure);
      await expect(client.getInventoryEntry(7n)).rejects.toMatchObject({ code: 'invalid_answer' });
      expect(standIn.requests).toHaveLength(2);
    },
  );

  const reason = new Error('sold out');
  const abortion = new AbortController();

  it.each<[string, () => number, unknown]>([
    ['throws', () => Promise.reject(reason) as never, reason],
    ['returns no valid quantity', () => -1, expect.objectContaining({ code: 'invalid_request' })],
    ['aborts the call', () => abortion.abort(reason) ?? 4, reason],
  ])('writes nothing when change %s', async (_, change, expected) => {
    standIn.responses = [toEntry(5, 'a')];
    const call = standIn.open().updateStock(7n, change, { signal: abortion.signal });
    expect(await call.catch((cause) => cause)).toEqual(expected);
    expect(standIn.requests.map(({ method }) => method)).toEqual(['GET']);
  });

  it('gives up after its timeout, and names conflicts as the reason', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    standIn.responses = [toEntry(5, 'a'), slowConflict];
    const update = () => standIn.open().updateStock(7n, () => 1, { totalTimeout: 2.5 * SLOW });
    const failure = { code: 'precondition_failed', status: 412 };
    await expect(onFastClock(update)).rejects.toMatchObject(failure);
    expect(standIn.requests).toHaveLength(2);
  });

  it.each([
    ['another error', [toEntry(5, 'a'), toError(403, 'forbidden')], 'forbidden'],
    ['no entry', [toError(404, 'not_found')], 'not_found'],
    ['an entry without a tag', [{ body }], 'invalid_answer'],
    ['another entry', [{ ...written, body: body.replace('7', '8') }], 'invalid_answer'],
    ['a sale of this order', [toEntry(5, 'a'), reused], 'idempotency_key_reused', 'applied'],
  ])('does not start over after %s', async (_, responses, code, effect = 'none') => {
    standIn.responses = [...responses];
    const updating = standIn.open().updateStock(7n, () => 1, { idempotencyKey });
    await expect(updating).rejects.toMatchObject({ code, effect });
    expect(standIn.requests).toHaveLength(responses.length);
  });
});
