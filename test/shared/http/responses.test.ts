import { expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import {
  AdjustmentRefused,
  Forbidden,
  NotFound,
  StoreUnavailable,
} from '../../../shared/contract/errors.ts';
import type { Operation } from '../../../shared/contract/operation.ts';
import { adjustInventory } from '../../../shared/contract/operations/adjustInventory.ts';
import { getInventoryEntry } from '../../../shared/contract/operations/getInventoryEntry.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { listOrders } from '../../../shared/contract/operations/listOrders.ts';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { entryPetId } from '../../../shared/contract/parameters.ts';
import { defineHandler } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import type { Reply, RequestState } from '../../../shared/http/operationRequest.ts';
import { apiKey, call, defineHandlerSettings, settings, useLogs, withKey } from './callHandler.ts';

const logs = useLogs();

/** What the handler of a write gets, with the status of the response. */
async function given(
  headers: Record<string, string[]>,
  client = { apiKey, settings },
  operation: Operation = updateInventory,
) {
  const operate = vi.fn<(input: object) => Promise<Reply>>().mockResolvedValue({ body: {} });
  const handler = defineHandler(operation, client.settings, operate);
  const { statusCode } = await call(handler, {
    headers: { ...withKey(client.apiKey), ...headers },
    event: { body: operation.harmlessBody as string },
  });
  return { statusCode, ...(operate.mock.lastCall?.[0] as RequestState) };
}

const tags = (count: number) => Array.from({ length: count }, (_, tag) => `"${tag}"`).join(', ');

it.each<[string, Record<string, string[]>, object]>([
  ['any version without If-Match', {}, { statusCode: 200, ifMatch: undefined }],
  ['any version if it is *', { 'If-Match': [' * '] }, { ifMatch: undefined }],
  [
    'the versions of both lines',
    { 'If-Match': ['"a"'], 'if-match': ['"b"', '"c"'] },
    { ifMatch: ['a', 'b', 'c'] },
  ],
  [
    'no weak tags, which match nothing strongly',
    { 'If-Match': ['W/"a", "b"'] },
    { ifMatch: ['b'] },
  ],
  ['no version if all are weak', { 'If-Match': ['W/"a"'] }, { ifMatch: [] }],
  ['no version if nothing must exist', { 'If-None-Match': [' * '] }, { ifMatch: [] }],
  ['20 versions', { 'If-Match': [tags(20)] }, { ifMatch: { length: 20 } }],
  ['no more than 20', { 'If-Match': [tags(21)] }, { statusCode: 400 }],
  ['no Idempotency-Key', { 'Idempotency-Key': ['a'] }, { statusCode: 400 }],
  ['nothing beside a second Authorization', { authorization: ['Bearer x'] }, { statusCode: 401 }],
  ['nothing beside the same again', { AUTHORIZATION: [`Bearer ${apiKey}`] }, { statusCode: 401 }],
])('an update gets %s', async (_, headers, expected) => {
  expect(await given(headers)).toMatchObject(expected);
});

it.each([[['a', 'b']], [['\u007f']], [[]], [['']]])(
  'an adjustment takes no Idempotency-Key of %j',
  async (lines) => {
    const adjustment = given({ 'Idempotency-Key': lines }, undefined, adjustInventory);
    expect(await adjustment).toMatchObject({ statusCode: 400 });
  },
);

it('requests of different API keys or of different Idempotency-Keys never collide', async () => {
  const [one, other] = [defineHandlerSettings('write'), defineHandlerSettings('write')];
  const keyOf = async (key: string, client = one) =>
    (await given({ 'Idempotency-Key': [key] }, client, adjustInventory)).idempotencyKey;
  const key = await keyOf('abc');
  expect(await keyOf('abc')).toBe(key);
  expect(new Set([key, await keyOf('abc', other), await keyOf('abd')]).size).toBe(3);
});

const cause = new Error('the cause');
const mistake = {
  code: 'internal_error',
  message: 'Something went wrong on our side; the request id tells us what.',
  status: 500,
};
const challenge = 'Bearer realm="petstore", error="insufficient_scope"';
const logged = { cause: { name: 'Error', message: 'the cause', stack: expect.any(String) } };
const text = (part: string) => expect.stringContaining(part);

it.each<[Error, object, logged?: object]>([
  [new TypeError('of x', { cause }), { statusCode: 500, body: JSON.stringify(mistake) }, logged],
  [new StoreUnavailable(cause), { statusCode: 503, headers: { 'Retry-After': '5' } }, logged],
  [new StoreUnavailable(cause, true), { statusCode: 503, headers: { 'Retry-After': '1' } }, logged],
  [
    new NotFound(entryPetId, 7n),
    { statusCode: 404, body: text('There is no inventory entry with petId 7.') },
  ],
  [
    new StoreUnavailable(cause, false, 'It was applied.'),
    { statusCode: 503, headers: { 'Retry-After': '5' }, body: text('It was applied.') },
    logged,
  ],
  [
    new AdjustmentRefused('insufficient_stock', 'Too few.', [
      { petId: 2n ** 63n - 1n, code: 'insufficient_stock', quantity: 0 },
    ]),
    {
      statusCode: 409,
      headers: expect.not.objectContaining({ 'Idempotent-Replayed': expect.anything() }),
      body: '{"code":"insufficient_stock","message":"Too few.","status":409,"refused":[{"petId":9223372036854775807,"code":"insufficient_stock","quantity":0}]}',
    },
  ],
  [
    new AdjustmentRefused('not_found', 'No pet.', undefined, true),
    {
      statusCode: 404,
      headers: { 'Idempotent-Replayed': 'true' },
      body: '{"code":"not_found","message":"No pet.","status":404}',
    },
  ],
  [new Forbidden(), { statusCode: 403, headers: { 'WWW-Authenticate': challenge } }],
])('%s is a response for the client, and only if it is ours in the log', async (...row) => {
  const [thrown, expected, causes] = row;
  const handler = defineHandler(updateInventory, settings, () => Promise.reject(thrown));
  const response = await call(handler, { event: { body: '{"quantity":1}' } });
  expect(response).toMatchObject(expected);
  expect(response.headers['Content-Type']).toBe('application/json');
  expect(response.body).not.toContain('cause');
  const { name, message } = thrown;
  const error = { name, message, stack: text(message), ...causes };
  const lines = causes ? [[{ requestId: 'request-1', error }]] : [];
  expect(logs.error.mock.calls).toEqual(lines);
});

const lifecycle = {
  kind: 'deprecated',
  since: new Date('2026-12-01T00:00:00Z'),
  sunset: new Date('2027-12-01T00:00:00Z'),
  guide: 'deprecations.html#old',
} as const;

it.each([
  [200, apiKey, async () => ({ body: {} })],
  [401, 'psk_unknown', async () => ({ body: {} })],
  [500, apiKey, () => Promise.reject(new Error('broken'))],
])('a deprecated operation says so with status %i', async (status, key, respond) => {
  const handler = defineHandler({ ...getInventoryEntry, lifecycle }, settings, respond);
  const { statusCode, headers } = await call(handler, { headers: withKey(key) });
  expect(statusCode).toBe(status);
  expect(headers).toMatchObject({
    Deprecation: '@1796083200',
    Sunset: 'Wed, 01 Dec 2027 00:00:00 GMT',
    Link: '<https://docs.petstore.example/deprecations.html#old>; rel="deprecation"',
  });
});

it('a page of a deprecated list links to the next page and to the guide', async () => {
  const reply = { body: [], next: 'b' };
  const list = defineHandler({ ...listOrders, lifecycle }, settings, async () => reply);
  const multiValueQueryStringParameters = { limit: ['1'] };
  const { headers } = await call(list, { event: { multiValueQueryStringParameters } });
  const guide = `https://docs.petstore.example/${lifecycle.guide}`;
  expect(headers.Link).toBe(`<?limit=1&cursor=b>; rel="next", <${guide}>; rel="deprecation"`);
});

it.each([
  ['/shop/v1/store/orders/', '/shop/v1/store/orders/'],
  // `//v1` would be another host (RFC 3986 section 4.2).
  ['//v1/store/orders', '/v1/store/orders'],
  ['///evil.example//store/orders//', '/evil.example/store/orders/'],
])('a page at %s links to the next page on the same host', async (path, linked) => {
  const stable = { ...listOrders, lifecycle: { kind: 'stable' } } as const;
  const list = defineHandler(stable, settings, async () => ({ body: [], next: 'b' }));
  const requestContext = { requestId: 'request-1', path } as never;
  const { headers } = await call(list, { event: { requestContext } });
  expect(headers.Link).toBe(`<${linked}?cursor=b>; rel="next"`);
});

it.each([
  ['an entry that the client has', getInventoryEntry, { version: 'a' }, '"a"', 304],
  ['an entry that has changed', getInventoryEntry, { version: 'AAAAAAE' }, '"AAAAAAA"', 200],
  ['a page, which has no tag', listInventory, {}, '*', 200],
  ['an update', updateInventory, { version: 'a' }, '"a"', 200],
] as const)('If-None-Match is for reads with a tag: %s', async (...row) => {
  const [, operation, version, tag, status] = row;
  const handler = defineHandler<Operation>(operation, settings, async () => ({
    body: 5,
    ...version,
  }));
  const headers = { 'If-None-Match': [tag] };
  const { statusCode, body } = await call(handler, { headers, event: { body: '{"quantity":1}' } });
  expect([statusCode, body]).toEqual([status, status === 304 ? '' : '5']);
});

it('a parameter is given once, and headers that an operation does not take are ignored', async () => {
  const list = defineHandler(listOrders, settings, async () => ({ body: [] }));
  const headers = { 'Idempotency-Key': ['a', 'b'], 'If-Match': ['x'] };
  expect(await call(list, { headers })).toMatchObject({ statusCode: 200 });
  const { body } = await call(list, {
    event: { multiValueQueryStringParameters: { limit: ['1', '2'] } },
  });
  expect(body).toContain('limit must be given once.');
});

const quantityMessage = 'quantity must be an integer from 0 to 2147483647.';
const missingMessage = 'quantity is missing; it must be an integer from 0 to 2147483647';
const objectMessage = 'The body must be a JSON object with a quantity, such as {"quantity": 5}.';
const jsonMessage = 'The body must be valid JSON.';
const codingMessage = 'The body must be encoded in UTF-8.';
const emptyMessage =
  'The body is empty; it must be a JSON object with a quantity, such as {"quantity": 5}.';
const long = '"\n'.repeat(20);
const handler = defineHandler(updateInventory, settings, async () => ({ body: {} }));
const base64 = (text: string | Uint8Array) => ({
  body: Buffer.from(text).toString('base64'),
  isBase64Encoded: true,
});

it.each<[string | object, message?: string]>([
  ['{"quantity":-1}', quantityMessage],
  ['', emptyMessage],
  [' \n', emptyMessage],
  ['{}', `${missingMessage}.`],
  ['{"a":5,"b":5,"c":5}', `${missingMessage}; the body has only "a", "b", "c".`],
  [
    JSON.stringify({ [`${long}more`]: 1, b: 2, c: 3, d: 4 }),
    `${missingMessage}; the body has only ${JSON.stringify(long)}, "b", "c", ….`,
  ],
  ['5', objectMessage],
  ['{', jsonMessage],
  ['{"__proto__":{"quantity":5}}', `${missingMessage}; the body has only "__proto__".`],
  ['{"quantity":5,"x":"\uFFFD"}', codingMessage],
  [base64('{"quantity":21}')],
  [base64('quantity=5'), jsonMessage],
  [base64(Buffer.from('{"quantity":5,"x":"\xe9"}', 'latin1')), codingMessage],
  [{ body: '{"quantity":5}', isBase64Encoded: true }, jsonMessage],
  [{ body: null }, emptyMessage],
])('the message about the body %j says what is valid', async (sent, message) => {
  const event = typeof sent === 'string' ? { body: sent } : sent;
  const response = await call(handler, { event });
  const expected = message === undefined ? {} : { message, status: 400 };
  expect(JSON.parse(String(response.body))).toMatchObject(expected);
  expect(response.statusCode).toBe(message === undefined ? 200 : 400);
});

it('the message about a body names each invalid member once, by its path', async () => {
  const word = z.string({ error: 'must be a string' });
  const requestBody = z.object({ a: z.object({ b: word }), c: z.array(word) });
  const own = defineHandler({ ...updateInventory, requestBody }, settings, async () => ({
    body: {},
  }));
  const { body } = await call(own, { event: { body: '{"a":{"b":5},"c":["",5]}' } });
  expect(body).toContain('"a.b must be a string; c.1 must be a string."');
});

// API Gateway never sends these: they come from a mistake in the stack, or a call by hand.
it.each<[string, event: unknown, context: unknown, status: number]>([
  ['no context', {}, undefined, 200],
  ['no headers', { multiValueHeaders: null }, {}, 401],
  ['headers that are text', { multiValueHeaders: 'headers' }, {}, 500],
  ['a line that is a number', { multiValueHeaders: { Authorization: [5] } }, {}, 401],
  ['no path parameters', { pathParameters: null }, {}, 400],
  ['a query of a number', { multiValueQueryStringParameters: { limit: 5 } }, {}, 200],
  ['a body that is an object', { body: { quantity: 1 } }, {}, 400],
])('an invalid event gets a response and a log line: %s', async (_, changes, ...rest) => {
  const [context, status] = rest;
  const event = {
    multiValueHeaders: { ...withKey(apiKey), 'Content-Type': ['application/json'] },
    pathParameters: { petId: '7' },
    body: '{"quantity":1}',
  };
  const invoke = handler as unknown as (...args: unknown[]) => ReturnType<typeof call>;
  const response = await invoke(
    { ...event, ...Object(changes) },
    context && { awsRequestId: 'request-2', functionVersion: '3' },
  );
  expect(response.statusCode).toBe(status);
  expect(response.headers['X-Request-Id']).toMatch(/^[\w-]{8,}$/);
  expect(JSON.parse(String(response.body))).toMatchObject(status === 200 ? {} : { status });
  expect(logs.info.mock.calls).toMatchObject([[{ operation: 'updateInventory', status }]]);
  expect(logs.error).toHaveBeenCalledTimes(status === 500 ? 1 : 0);
});

it.each<[unknown, string | string[]]>([
  [undefined, []],
  ['event', 'string'],
  [{}, []],
  [{ warmer: 'psk_secret', concurrency: 3 }, ['warmer', 'concurrency']],
  [
    { version: '2.0', headers: {}, requestContext: { requestId: 'request-1' } },
    ['version', 'headers', 'requestContext'],
  ],
  [{ ['x'.repeat(50)]: 1 }, ['x'.repeat(40)]],
  [Object.fromEntries('abcdefghijklm'.split('').map((name) => [name, 1])), 'abcdefghij'.split('')],
])('an event that is no request gets no response and one warning: %j', async (event, shown) => {
  const invoke = handler as unknown as (...args: unknown[]) => Promise<unknown>;
  expect(await invoke(event, { awsRequestId: 'request-2' })).toBeUndefined();
  const warning = 'The event is not a request of API Gateway.';
  expect(logs.warn.mock.calls).toEqual([[{ warning, event: shown }]]);
  expect(logs.info).not.toHaveBeenCalled();
  expect(logs.error).not.toHaveBeenCalled();
});

const shop = 'https://shop.example';
const listed = { ...settings, allowedOrigins: ['https://www.petstore.example', shop] };

async function* onePage() {
  yield { items: Buffer.from('{}'), isLast: true };
}

const sendDocument = async () => ({ body: {} });
const response = streamedResponse(listInventory);
const handlers = {
  'a document': defineHandler(getInventoryEntry, listed, sendDocument),
  'a list': defineHandler(listInventory, listed, async () => ({ pages: onePage() }), { response }),
};

const foreign = [
  ...['https://foreign.example', `${shop}.foreign.example`, 'http://shop.example'],
  ...[`${shop}:8443`, 'null', '*', '', undefined],
];

// A cache must not give one origin's response to another, nor a compressed list to a client that accepts none.
it.each([
  ['a document', 200, apiKey, 'Origin'],
  ['a list', 200, apiKey, 'Accept-Encoding, Origin'],
  ['a document', 401, 'nonsense', 'Origin'],
  ['a list', 401, 'nonsense', 'Origin'],
] as const)(
  'with listed origins, only one of these can read %s with %i',
  async (name, status, key, vary) => {
    for (const origin of [shop, ...foreign]) {
      const headers = { ...withKey(key), ...(origin !== undefined && { Origin: [origin] }) };
      const response = await call(handlers[name], { headers });
      expect(response.statusCode).toBe(status);
      expect(response.headers.Vary).toBe(vary);
      const { headers: named } = response;
      const exposed = named['Access-Control-Expose-Headers'];
      expect(named['Access-Control-Allow-Origin'], origin).toBe(origin === shop ? shop : undefined);
      expect(exposed?.includes('X-Request-Id'), origin).toBe(origin === shop ? true : undefined);
    }
  },
);

it('with any origin allowed, a response is the same for all, without Vary', async () => {
  const { headers } = await call(defineHandler(getInventoryEntry, settings, sendDocument));
  expect(headers['Access-Control-Allow-Origin']).toBe('*');
  expect(headers).not.toHaveProperty('Vary');
});
