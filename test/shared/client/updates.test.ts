import { describe, expect, it } from 'vitest';
import { type InventoryAdjustment, PetstoreError } from '../../../shared/client/index.ts';
import { MAX_QUANTITY } from '../../../shared/contract/values.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import {
  brokenOff,
  lost,
  type StandInResponse,
  silent,
  toError,
  unfinished,
  unknownPaths,
  useStandIn,
} from './standIn.ts';

const standIn = useStandIn();

const body = '{"petId":7,"quantity":3,"status":"sold"}';
const written = { headers: { ETag: '"c"' }, body };
const outcomes = {
  none: 'The update was not applied by this call.',
  unknown: 'The update may or may not have been applied.',
};
const conflict = toError(412, 'precondition_failed');

/** The requests, without the keys of the adjustments. */
const sent = () =>
  standIn.requests.map(({ method, url, headers, body }) =>
    [method, url, headers['if-match'], body].join(' ').trim(),
  );
const keys = () => standIn.requests.map(({ headers }) => headers['idempotency-key']);

const forbidden = toError(403, 'forbidden');
const busy = toError(503, 'service_unavailable');
const throttled = toError(429, 'too_many_requests', { 'Retry-After': '0' });
/** Longer than a call may take. */
const throttledLong = toError(429, 'too_many_requests', { 'Retry-After': '60' });
const nowhere = (code?: string) =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });

const ifMatch = '"a"';
const idempotencyKey = 'order-1234';

describe('an update', () => {
  it.each<[string, StandInResponse, requests: number]>([
    ['429', throttled, 3],
    ['no connection', nowhere('ECONNREFUSED'), 1],
  ])('is repeated if nothing can have happened: after %s', async (_, failure, requests) => {
    for (const options of [{}, { ifMatch }]) {
      standIn.requests.length = 0;
      standIn.responses = [failure, failure, written];
      const client = standIn.open({ fetch: standIn.fetch });
      const update = () => client.updateInventory(7n, { quantity: 5 }, options);
      const updated = { petId: 7n, quantity: 3, status: 'sold', etag: '"c"' };
      expect(await onFastClock(update)).toEqual(updated);
      const line = ['PATCH /v1/inventory/7', options.ifMatch, '{"quantity":5}'].join(' ');
      expect(sent()).toEqual(Array(requests).fill(line));
      expect(keys()).toEqual(Array(requests).fill(undefined));
    }
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

describe('an error says what the update did', () => {
  type Row = [keyof typeof outcomes, string, ...StandInResponse[]];

  it.each<Row>([
    ['none', 'forbidden', forbidden],
    // For example from a firewall: only 429 and 503 are waited for.
    ['none', 'forbidden', toError(403, 'forbidden', { 'Retry-After': '1' })],
    ['none', 'too_many_requests', throttledLong],
    ['none', 'precondition_failed', conflict],
    ['none', 'not_found', toError(404, 'not_found')],
    // The base URL leads elsewhere, so the entry may exist.
    ...unknownPaths.map((response): Row => ['none', 'invalid_response', response]),
    ['none', 'connection_failed', nowhere('ECONNREFUSED')],
    ['none', 'connection_failed', nowhere('ENOTFOUND')],
    ['none', 'connection_failed', nowhere('EAI_AGAIN')],
    // After attempts without an effect.
    ['none', 'forbidden', nowhere('ECONNREFUSED'), forbidden],
    ['none', 'precondition_failed', throttled, conflict],
    ['unknown', 'connection_failed', throttled, lost],
    ['unknown', 'connection_failed', nowhere('ECONNRESET')],
    // A browser does not say why.
    ['unknown', 'connection_failed', new TypeError('Failed to fetch')],
    ['unknown', 'connection_failed', lost],
    ['unknown', 'connection_failed', brokenOff('{"petId":')],
    ['unknown', 'connection_failed', { ...written, body: body.slice(0, -1) }],
    ['unknown', 'connection_failed', { ...written, body: '' }],
    ['unknown', 'timeout', silent],
    ['unknown', 'timeout', unfinished(200, '{')],
    ['unknown', 'service_unavailable', busy],
    ['unknown', 'internal_error', toError(500, 'internal_error')],
    ['unknown', 'service_unavailable', { status: 502, body: '<html>' }],
    // Only the service's own Error body says that nothing happened.
    ['unknown', 'service_unavailable', { status: 500, body: forbidden.body }],
    ['unknown', 'connection_failed', brokenOff('{"code":"forbidden",', 403)],
    ['unknown', 'connection_failed', { status: 404, body: forbidden.body.slice(0, 30) }],
    ['unknown', 'invalid_response', { body: '<html>' }],
    ['unknown', 'invalid_response', { status: 302 }],
    ['unknown', 'invalid_response', { status: 408 }],
    ['unknown', 'invalid_response', { status: 429, body: 'Slow down' }],
    ['unknown', 'invalid_response', { status: 403, body: '<html>Blocked</html>' }],
    ['unknown', 'invalid_response', { status: 403, body: '{"message":"Forbidden"}' }],
    ['unknown', 'invalid_response', { status: 401, body: '' }],
    ['unknown', 'invalid_response', { ...written, status: 206 }],
    // Nearly the service's.
    ['unknown', 'invalid_response', { ...forbidden, status: 404 }],
    ...[
      '{"code":"forbidden","message":"No.","status":404}',
      '{"code":"forbidden","message":"No.","status":"403"}',
      '{"code":"forbidden","message":null,"status":403}',
      '{"code":["forbidden"],"message":"No.","status":403}',
      '{"code":"invalid_response","message":"No.","status":403}',
      '"forbidden"',
    ].map((body): Row => ['unknown', 'invalid_response', { status: 403, body }]),
  ])('%s: %s, and no update is repeated that may be applied', async (effect, code, ...course) => {
    for (const options of [{}, { ifMatch }]) {
      standIn.responses = [...course];
      const attempts = course.length;
      const { fetch } = standIn;
      const maxRetries = effect === 'unknown' ? 3 : attempts - 1;
      const client = standIn.open({ fetch, timeout: 1_000, maxRetries });
      const update = () => client.updateInventory(7n, { quantity: 5 }, options);
      const error = await onFastClock(update).catch((cause) => cause);
      expect(error).toMatchObject({ effect, code, attempts, operationId: 'updateInventory' });
      expect(error.message).toMatch(new RegExp(`(^|\\. )${outcomes[effect]}$`));
    }
  });

  it('none: the key did not come in time', async () => {
    const apiKey = () => new Promise<never>(() => {});
    const client = standIn.open({ apiKey, timeout: 20, maxRetries: 0 });
    const update = client.updateInventory(7n, { quantity: 5 });
    await expect(update).rejects.toMatchObject({ code: 'timeout', effect: 'none' });
  });
});

const entry = '{"petId":9223372036854775807,"quantity":3,"status":"sold"}';
const adjusted = { body: `{"entries":[${entry}]}` };
const cart = [{ petId: 9_223_372_036_854_775_807n, delta: -2 }] as const;

describe('adjustInventory', () => {
  const adjust = (maxRetries?: number) => {
    const client = standIn.open({ fetch: standIn.fetch });
    return client.adjustInventory(cart, { idempotencyKey, maxRetries });
  };

  it('sends exact ids and the key, also again, and returns the entries', async () => {
    const replayed = { ...adjusted, headers: { 'Idempotent-Replayed': 'true' } };
    standIn.responses = [adjusted, busy, lost, replayed];
    const entries = [{ petId: cart[0].petId, quantity: 3, status: 'sold' }];
    expect(await adjust()).toEqual({ entries });
    expect(await adjust()).toEqual({ entries });
    const line = 'POST /v1/inventory/adjustments';
    const text = '{"adjustments":[{"petId":9223372036854775807,"delta":-2}]}';
    expect(sent()).toEqual(Array(4).fill(`${line}  ${text}`));
    expect(keys()).toEqual(Array(4).fill(idempotencyKey));
    expect(standIn.requests[0]?.headers['content-type']).toBe('application/json');
  });

  const none = 'The adjustment was not applied.';
  const noneNow = 'The adjustment was not applied by this call.';
  const unknown = 'The adjustment may or may not have been applied.';
  const earlier = 'The adjustment may or may not have been applied by an earlier attempt.';

  it.each([
    // The outcome of the key: no earlier attempt can have sold.
    [404, 'not_found', none, none],
    [409, 'not_for_sale', none, none],
    [409, 'insufficient_stock', none, none],
    [409, 'quantity_out_of_range', none, none],
    // They say nothing about an attempt before them.
    [400, 'invalid_request', noneNow, earlier],
    [401, 'unauthorized', noneNow, earlier],
    [403, 'forbidden', noneNow, earlier],
    [413, 'payload_too_large', noneNow, earlier],
    [415, 'unsupported_media_type', noneNow, earlier],
    [429, 'too_many_requests', noneNow, earlier],
    // The other adjustment with the key may have been refused.
    [422, 'idempotency_key_reused', '', earlier],
  ])('is not sent again after %i %s: "%s", or after a lost response "%s"', async (...row) => {
    const [status, code, first, second] = row;
    // After 429 it would wait, but not longer than a call may take.
    const answer = toError(status, code, status === 429 ? { 'Retry-After': '60' } : {});
    for (const [end, course] of [[first, [answer]] as const, [second, [lost, answer]] as const]) {
      standIn.requests.length = 0;
      standIn.responses = [...course];
      const effect = [none, noneNow].includes(end) ? 'none' : 'unknown';
      const message = `It is ${code}. ${end}`.trim();
      const details = { effect, attempts: course.length, operationId: 'adjustInventory' };
      await expect(adjust()).rejects.toMatchObject({ status, code, message, ...details });
      expect(standIn.requests).toHaveLength(course.length);
    }
  });

  it.each<[string, string, ...StandInResponse[]]>([
    ['none', noneNow, nowhere('ECONNREFUSED')],
    ['unknown', earlier, lost, nowhere('ECONNREFUSED')],
    ['unknown', unknown, lost],
    ['unknown', unknown, busy],
    ['unknown', unknown, { status: 403, body: '<html>' }],
    ['unknown', unknown, { body: '<html>' }],
    ['unknown', unknown, lost, { status: 403, body: '<html>' }],
    ['unknown', unknown, nowhere('ECONNREFUSED'), lost],
  ])('has the effect %s and says "%s" after a last attempt without an answer', async (...row) => {
    const [effect, end, ...course] = row;
    standIn.responses = course;
    const message = expect.stringContaining(end);
    const maxRetries = course.length - 1;
    const failure = { effect, message, attempts: course.length };
    await expect(adjust(maxRetries)).rejects.toMatchObject(failure);
  });

  const refused = `[{"petId":9223372036854775807,"code":"insufficient_stock","quantity":1},
    {"petId":-9007199254740993,"code":"not_for_sale","quantity":3,"status":"pending","shelf":2},
    {"petId":7,"code":"not_found"}]`;
  const refuse = (members: string) => ({
    status: 409,
    body: `{"code":"insufficient_stock","message":"No.","status":409${members}}`,
  });

  it('says which pets refused it, with exact ids', async () => {
    standIn.responses = [refuse(`,"refused":${refused}`)];
    const notForSale = { code: 'not_for_sale', quantity: 3, status: 'pending', shelf: 2 };
    await expect(adjust()).rejects.toMatchObject({
      code: 'insufficient_stock',
      effect: 'none',
      refused: [
        { petId: 9_223_372_036_854_775_807n, code: 'insufficient_stock', quantity: 1 },
        { petId: -9_007_199_254_740_993n, ...notForSale },
        { petId: 7n, code: 'not_found' },
      ],
    });
  });

  // As outcomes that release 2.0 stored.
  it('may not say which pets refused it', async () => {
    standIn.responses = [refuse('')];
    const failure = { code: 'insufficient_stock', effect: 'none', refused: undefined };
    await expect(adjust()).rejects.toMatchObject(failure);
  });

  it.each([
    '{}',
    '[null]',
    '[{"petId":"7","code":"not_found"}]',
    '[{"petId":9223372036854775808,"code":"not_found"}]',
    '[{"petId":7}]',
    '[{"petId":7,"code":"forbidden"}]',
    '[{"petId":7,"code":"insufficient_stock","quantity":-1}]',
    '[{"petId":7,"code":"not_for_sale","quantity":1,"status":"lost"}]',
  ])('knows no outcome if the pets are not as promised: %s', async (members) => {
    standIn.responses = [refuse(`,"refused":${members}`)];
    const failure = { code: 'invalid_response', effect: 'unknown', refused: undefined };
    await expect(adjust()).rejects.toMatchObject(failure);
  });

  it.each<StandInResponse>([
    { status: 403, body: '<html>' },
    { status: 409, body: '{"code":"insufficient_stock","message":"No."}' },
    { status: 404, body: '{"code":"insufficient_stock","message":"No.","status":404}' },
    { body: '<html>' },
    { body: 'null' },
    { body: '{"entries":{}}' },
    { body: `{"entries":[${entry.replace('3', '-1')}]}` },
    // Of another cart.
    { body: `{"entries":[${entry},${body}]}` },
  ])('knows no outcome by a response of another server: %j', async (response) => {
    standIn.responses = [response];
    const failure = { code: 'invalid_response', effect: 'unknown' };
    await expect(adjust(0)).rejects.toMatchObject(failure);
  });

  it.each(unknownPaths)(
    'takes no unknown path for an entry that is missing, also after a lost response: %j',
    async (response) => {
      standIn.responses = [response];
      const failure = { code: 'invalid_response', status: 404 };
      await expect(adjust()).rejects.toMatchObject({ ...failure, effect: 'none' });
      standIn.responses = [lost, response];
      await expect(adjust()).rejects.toMatchObject({ ...failure, effect: 'unknown' });
    },
  );

  it('is about the pets at the time of the call, whatever becomes of the array', async () => {
    standIn.responses = [busy, adjusted];
    const own: InventoryAdjustment[] = [...cart];
    const call = standIn.open().adjustInventory(own, { idempotencyKey });
    own.length = 0;
    expect(await call).toMatchObject({ entries: [{ quantity: 3 }] });
  });

  it('has an unknown effect although an attempt that timed out turns out as not sent', async () => {
    const late = () => new Promise((resolve) => setTimeout(resolve, 60));
    const failures = [nowhere('ECONNREFUSED'), new Error('lost')];
    const own = async () => {
      const failure = failures.shift();
      await late();
      throw failure;
    };
    const client = standIn.open({ fetch: own, timeout: 40, maxRetries: 1 });
    const call = client.adjustInventory(cart, { idempotencyKey });
    await expect(call).rejects.toMatchObject({ code: 'timeout', effect: 'unknown', attempts: 2 });
  });

  const first = { petId: 7n, delta: -1 };
  const range = 'must be an integer from -2147483647 to 2147483647, but not 0';
  const int64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';

  it.each<[string, unknown[]]>([
    ['adjustments must have 1 to 10 elements, not 0.', []],
    [
      'adjustments must have 1 to 10 elements, not 11.',
      Array.from({ length: 11 }, (_, id) => ({ ...first, petId: BigInt(id) })),
    ],
    ['adjustments has petId 7 twice: add its deltas.', [first, { petId: 7n, delta: 2 }]],
    [`adjustments[0].petId ${int64}, not ${2n ** 63n}.`, [{ ...first, petId: 2n ** 63n }]],
    ...[0, 0.5, MAX_QUANTITY + 1, -MAX_QUANTITY - 1, Number.NaN].map(
      (delta): [string, unknown[]] => [
        `adjustments[1].delta ${range}: it is ${delta}.`,
        [first, { petId: 8n, delta }],
      ],
    ),
  ])('refuses what a customer may have typed, and sends nothing: %s', async (message, list) => {
    const call = standIn.open().adjustInventory(list as never, { idempotencyKey });
    const error = await call.catch((cause) => cause);
    expect(error).toBeInstanceOf(PetstoreError);
    const refusal = { code: 'invalid_request', effect: 'none', attempts: 0, status: undefined };
    expect(error).toMatchObject({ ...refusal, message });
    expect(standIn.requests).toEqual([]);
  });

  const anArray = 'adjustments must be an array of { petId, delta }.';
  const aBigint = 'petId must be a bigint, such as 7n or BigInt("7").';

  it.each<[string, unknown]>([
    [anArray, undefined],
    [anArray, new Map([[7n, -1]])],
    [`adjustments[0].${aBigint}`, Array(1)],
    [`adjustments[1].${aBigint}`, [first, null]],
    [`adjustments[0].${aBigint}`, [{ ...first, petId: 7 }]],
    [`adjustments[0].${aBigint}`, [{ petid: 7n, delta: -1 }]],
    ['adjustments[0].delta must be a number.', [{ petId: 7n, Delta: -1 }]],
    ['adjustments[0].delta must be a number.', [{ ...first, delta: '-1' }]],
    ['adjustments[0].delta must be a number.', [{ ...first, delta: -1n }]],
  ])('refuses a wrong type by its name, and sends nothing: %s', async (message, list) => {
    const call = standIn.open().adjustInventory(list as never, { idempotencyKey });
    await expect(call).rejects.toThrow(new TypeError(message));
    expect(standIn.requests).toEqual([]);
  });

  it('takes ten pets at the limits, and ignores other members', async () => {
    const ids = [2n ** 63n - 1n, -(2n ** 63n), 0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n];
    const list = ids.map((petId, index) => ({
      petId,
      delta: index % 2 === 0 ? MAX_QUANTITY : -MAX_QUANTITY,
      name: 'Rex',
    }));
    standIn.responses = [{ body: '{"entries":[]}' }];
    await standIn.open().adjustInventory(list, { idempotencyKey });
    const texts = list.map(({ petId, delta }) => `{"petId":${petId},"delta":${delta}}`);
    expect(standIn.requests[0]?.body).toBe(`{"adjustments":[${texts}]}`);
  });
});
