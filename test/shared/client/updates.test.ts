import { describe, expect, it } from 'vitest';
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
    ['503', toError(503, 'service_unavailable'), { idempotencyKey }, 3, idempotencyKey],
    ['503', toError(503, 'service_unavailable'), { ifMatch, idempotencyKey }, 3, idempotencyKey],
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
  ])('fails by a response that no safe update could follow: %j', async (response, why) => {
    standIn.responses = [response];
    const call = standIn.open().updateInventory(7n, { quantity: 5 });
    const message = `The response is not a valid updateInventory response. ${outcomes.unknown}`;
    const cause = { message: why };
    const failure = { code: 'invalid_response', effect: 'unknown', message, cause };
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
  { status: 401, body: '' },
  { status: 429, headers: { 'Retry-After': '60' }, body: 'Slow down' },
  { status: 412, body: '<html>' },
  // Nearly the service's.
  { ...forbidden, status: 404 },
  { status: 403, body: '{"code":"forbidden","message":"No.","status":404}' },
  { status: 403, body: '{"code":"forbidden","message":"No.","status":"403"}' },
  { status: 403, body: '{"code":"forbidden","message":"No."}' },
  { status: 403, body: '{"code":"forbidden","message":null,"status":403}' },
  { status: 403, body: '{"code":["forbidden"],"message":"No.","status":403}' },
  { status: 403, body: '{"code":"invalid_response","message":"No.","status":403}' },
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
    ['none', 'invalid_response', unknownPath],
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
    ['unknown', 'invalid_response', { body: '<html>' }],
    ['unknown', 'invalid_response', { status: 302 }],
    ['unknown', 'invalid_response', { status: 408 }],
    // Only the service's own Error body says that nothing happened.
    ...foreign.map((response): ['unknown', string, StandInResponse] => [
      'unknown',
      'invalid_response',
      response,
    ]),
    ['unknown', 'service_unavailable', { status: 500, body: forbidden.body }],
    ['unknown', 'invalid_response', lost, { status: 412, body: '' }],
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

it.each(['W/"a"', '"AAAACQBh-gzip"', '"AAAACQBh;br"'])(
  'an entry is refused if a proxy changed its ETag to %s, which no update could name',
  async (ETag) => {
    standIn.responses = [{ body, headers: { ETag } }];
    const message = expect.stringMatching(/^A proxy changed the ETag.* compression/);
    const failure = { code: 'invalid_response', status: 200, effect: 'none', message };
    await expect(standIn.open().getInventoryEntry(7n)).rejects.toMatchObject(failure);
  },
);

const entry = '{"petId":9223372036854775807,"quantity":3,"status":"sold"}';
const adjusted = { body: `{"entries":[${entry}]}` };
const cart = [{ petId: 9_223_372_036_854_775_807n, delta: -2 }] as const;

describe('adjustInventory', () => {
  const adjust = (maxRetries?: number) => {
    const client = standIn.open({ fetch: standIn.fetch, timeout: 1_000 });
    return onFastClock(() => client.adjustInventory(cart, { idempotencyKey, maxRetries }));
  };

  it('sends exact ids and the key, also again, and returns the entries', async () => {
    const replayed = { ...adjusted, headers: { 'Idempotent-Replayed': 'true' } };
    standIn.responses = [adjusted, lost, replayed];
    const entries = [{ petId: cart[0].petId, quantity: 3, status: 'sold' }];
    expect(await adjust()).toEqual({ entries, isReplay: false });
    expect(await adjust()).toEqual({ entries, isReplay: true });
    const line = 'POST /v1/inventory/adjustments';
    const text = '{"adjustments":[{"petId":9223372036854775807,"delta":-2}]}';
    expect(sent()).toEqual(Array(3).fill(`${line}  ${text}`));
    expect(keys()).toEqual(Array(3).fill(idempotencyKey));
    expect(standIn.requests[0]?.headers['content-type']).toBe('application/json');
  });

  it.each<[string, StandInResponse]>([
    ['503', toError(503, 'service_unavailable')],
    ['500', toError(500, 'internal_error')],
    ['429', toError(429, 'too_many_requests')],
    ['408', { status: 408, body: '<html>' }],
    ['a lost connection', lost],
    ['a timeout', silent],
    ['a truncated response', { body: adjusted.body.slice(0, -1) }],
    ['no connection', nowhere('ECONNREFUSED')],
  ])('is retried after %s', async (_, failure) => {
    standIn.responses = [failure, adjusted];
    expect(await adjust()).toMatchObject({ isReplay: false });
  });

  const refusals = [
    [404, 'not_found'],
    [409, 'not_for_sale'],
    [409, 'insufficient_stock'],
    [409, 'quantity_out_of_range'],
  ] as const;
  const others = [
    [400, 'invalid_request'],
    [401, 'unauthorized'],
    [403, 'forbidden'],
    [413, 'payload_too_large'],
    [415, 'unsupported_media_type'],
    [429, 'too_many_requests'],
  ] as const;

  type Outcome = [effect: string, status: number, code: string, before?: StandInResponse];

  it.each<Outcome>([
    // The outcome of the key: no earlier attempt can have sold.
    ...refusals.map(([status, code]): Outcome => ['none', status, code]),
    ...refusals.map(([status, code]): Outcome => ['none', status, code, lost]),
    ...others.map(([status, code]): Outcome => ['none', status, code]),
    // They say nothing about an attempt before them.
    ...others.map(([status, code]): Outcome => ['unknown', status, code, lost]),
    // The other adjustment with the key may have been refused.
    ['unknown', 422, 'idempotency_key_reused'],
    ['unknown', 422, 'idempotency_key_reused', lost],
  ])('has the effect %s after its own %i %s, and is not sent again', async (...row) => {
    const [effect, status, code, before] = row;
    standIn.responses = [
      ...(before ? [before] : []),
      // After 429 it would wait, but not longer than a call may take.
      toError(status, code, status === 429 ? { 'Retry-After': '60' } : {}),
    ];
    const attempts = standIn.responses.length;
    const failure = { effect, status, code, attempts, operationId: 'adjustInventory' };
    await expect(adjust()).rejects.toMatchObject(failure);
    expect(standIn.requests).toHaveLength(attempts);
  });

  it.each<StandInResponse>([
    ...foreign,
    { status: 409, body: '{"code":"insufficient_stock","message":"No."}' },
    { status: 404, body: '{"code":"insufficient_stock","message":"No.","status":404}' },
    { body: '<html>' },
    { body: '[]' },
    { body: '{"entries":{}}' },
    { body: '{"entries":[{"petId":7,"quantity":-1,"status":"sold"}]}' },
  ])('knows no outcome by a response of another server: %j', async (response) => {
    standIn.responses = [response];
    const failure = { code: 'invalid_response', effect: 'unknown' };
    await expect(adjust(0)).rejects.toMatchObject(failure);
  });

  it('takes no unknown path for an entry that is missing, also after a lost response', async () => {
    standIn.responses = [lost, unknownPath];
    const failure = { code: 'invalid_response', status: 404, effect: 'unknown' };
    await expect(adjust()).rejects.toMatchObject(failure);
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'a rounded id',
      () => standIn.open().adjustInventory([{ petId: 7 }] as never, { idempotencyKey }),
    ],
    ['no list', () => standIn.open().adjustInventory({} as never, { idempotencyKey })],
  ])('sends nothing with %s', async (_, call) => {
    await expect(call()).rejects.toThrow();
    expect(standIn.requests).toEqual([]);
  });
});
