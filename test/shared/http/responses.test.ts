import { describe, expect, it } from 'vitest';
import { toLink, toNextCursor } from '../../../shared/client/resources.ts';
import { NotFound, StoreUnavailable } from '../../../shared/contract/errors.ts';
import { getPet } from '../../../shared/contract/operations/getPet.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { listOrders } from '../../../shared/contract/operations/listOrders.ts';
import { updateInventory } from '../../../shared/contract/operations/updateInventory.ts';
import { petId } from '../../../shared/contract/parameters.ts';
import { defineHandler, type OperationInput } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import { apiKey, call, defineHandlerSettings, settings, useLogs, withKey } from './callHandler.ts';

const logs = useLogs();

type Input = OperationInput<typeof updateInventory>;

/** A handler's input, or the status of the refusal. */
async function given<Name extends keyof Input>(
  name: Name,
  headers: Record<string, string[]>,
  client = { apiKey, settings },
): Promise<unknown> {
  let input: Input | undefined;
  const handler = defineHandler(updateInventory, client.settings, async (given) => {
    input = given;
    return { body: {} };
  });
  const { statusCode } = await call(handler, {
    headers: { ...withKey(client.apiKey), ...headers },
    event: { body: '{"quantity":1}' },
  });
  return statusCode === 200 ? input?.[name] : statusCode;
}

const tags = (count: number) => Array.from({ length: count }, (_, tag) => `"${tag}"`).join(', ');

describe('If-Match', () => {
  it.each<[string, Record<string, string[]>, unknown]>([
    ['any version if it is absent', {}, undefined],
    ['any version if it is *', { 'If-Match': [' * '] }, undefined],
    ['those of both lines', { 'If-Match': ['"a"'], 'if-match': ['"b"', '"c"'] }, ['a', 'b', 'c']],
    ['no weak tags, which match nothing strongly', { 'If-Match': ['W/"a", "b"'] }, ['b']],
    ['none if all are weak', { 'If-Match': ['W/"a"'] }, []],
    ['20 versions', { 'If-Match': [tags(20)] }, expect.objectContaining({ length: 20 })],
    ['no more than 20', { 'If-Match': [tags(21)] }, 400],
    ['nothing beside a second Authorization', { authorization: ['Bearer nonsense'] }, 401],
    ['nothing beside the same one again', { AUTHORIZATION: [`Bearer ${apiKey}`] }, 401],
  ])('names %s', async (_, headers, expected) => {
    expect(await given('ifMatch', headers)).toEqual(expected);
  });
});

it('Idempotency-Key is optional, given once, and separate for each API key', async () => {
  const [one, other] = [defineHandlerSettings('write'), defineHandlerSettings('write')];
  const keyOf = (lines: string[], client = one) =>
    given('idempotencyKey', { 'Idempotency-Key': lines }, client);
  expect(await given('idempotencyKey', {})).toBeUndefined();
  const key = await keyOf(['abc']);
  expect(await keyOf(['abc'])).toBe(key);
  expect(await keyOf(['abc'], other)).not.toBe(key);
  expect(await keyOf(['abd'])).not.toBe(key);
  for (const lines of [['a', 'b'], ['\u007f']]) expect(await keyOf(lines)).toBe(400);
});

describe('a failure', () => {
  async function responseTo(thrown: unknown) {
    const handler = defineHandler(updateInventory, settings, async () => {
      throw thrown;
    });
    const { body, ...response } = await call(handler, { event: { body: '{"quantity":1}' } });
    return { ...response, body: JSON.parse(String(body)) };
  }

  it('on our side is a fixed sentence for the client, and in full in the log', async () => {
    const cause = new Error('the cause');
    const message = 'Something went wrong on our side; the request id tells us what.';
    expect(await responseTo(new TypeError('a mistake', { cause }))).toMatchObject({
      statusCode: 500,
      body: { code: 'internal_error', message, status: 500 },
    });
    const logged = { name: 'Error', message: 'the cause', stack: expect.any(String) };
    const stack = expect.stringContaining('a mistake');
    const error = { name: 'TypeError', message: 'a mistake', stack, cause: logged };
    expect(logs.error).toHaveBeenCalledExactlyOnceWith({ requestId: 'request-1', error });
  });

  it('of the database is 503, and logged with the SDK’s error', async () => {
    const response = await responseTo(new StoreUnavailable(new Error('throttled')));
    expect(response).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '5' } });
    const crowded = await responseTo(new StoreUnavailable(new Error('conflict'), true));
    expect(crowded).toMatchObject({ statusCode: 503, headers: { 'Retry-After': '1' } });
    expect(JSON.stringify(logs.error.mock.calls)).toContain('throttled');
    expect(JSON.stringify(response.body)).not.toContain('throttled');
  });

  it('of the client is not logged as an error', async () => {
    const body = { message: 'There is no pet with petId 7.' };
    expect(await responseTo(new NotFound(petId, 7n))).toMatchObject({ statusCode: 404, body });
    expect(logs.error).not.toHaveBeenCalled();
  });

  it('of a key without the permission says so as RFC 6750 does', async () => {
    const reader = defineHandlerSettings('read');
    const handler = defineHandler(updateInventory, reader.settings, async () => ({ body: {} }));
    expect(await call(handler, { headers: withKey(reader.apiKey) })).toMatchObject({
      statusCode: 403,
      headers: { 'WWW-Authenticate': 'Bearer realm="petstore", error="insufficient_scope"' },
    });
  });
});

it('a page of a deprecated list links to the next page and to the guide', async () => {
  const { lifecycle } = getPet;
  const reply = { body: [], next: 'b' };
  const list = defineHandler({ ...listOrders, lifecycle }, settings, async () => reply);
  const headers = new Headers((await call(list)).headers);
  expect(toNextCursor(headers)).toBe('b');
  expect(toLink(headers, 'deprecation')).toBe(`https://docs.petstore.example/${lifecycle.guide}`);
});

const quantityMessage = 'quantity must be an integer from 0 to 2147483647.';
const missingMessage = 'quantity is missing; it must be an integer from 0 to 2147483647';
const objectMessage = 'The body must be a JSON object with a quantity, such as {"quantity": 5}.';
const jsonMessage = 'The body must be valid JSON.';
const emptyMessage =
  'The body is empty; it must be a JSON object with a quantity, such as {"quantity": 5}.';
const long = '"\n'.repeat(20);
const handler = defineHandler(updateInventory, settings, async () => ({ body: {} }));

it.each([
  ['{"quantity":-1}', quantityMessage],
  ['{"quantity":"5"}', quantityMessage],
  ['', emptyMessage],
  [' \n', emptyMessage],
  ['{}', `${missingMessage}.`],
  [
    '{"quantitiy":5,"status":"sold"}',
    `${missingMessage}; the body has only "quantitiy", "status".`,
  ],
  [
    JSON.stringify({ [`${long}more`]: 1, b: 2, c: 3, d: 4 }),
    `${missingMessage}; the body has only ${JSON.stringify(long)}, "b", "c", ….`,
  ],
  ['5', objectMessage],
  ['null', objectMessage],
  ['{', jsonMessage],
  ['{"__proto__":{"quantity":5}', jsonMessage],
  ['{"__proto__":{"quantity":5}}', `${missingMessage}; the body has only "__proto__".`],
  ['{"quantity":5,"x":"\uFFFD"}', 'The body must be encoded in UTF-8.'],
])('the message about the body %s says what is valid', async (body, message) => {
  const response = await call(handler, { event: { body } });
  expect(JSON.parse(String(response.body))).toMatchObject({ message, status: 400 });
});

const base64 = (text: string | Uint8Array) => ({
  body: Buffer.from(text).toString('base64'),
  isBase64Encoded: true,
});

it.each([
  ['in base64', base64('{"quantity":21}'), 200],
  ['in base64 that is not JSON', base64('quantity=5'), 400],
  ['in base64 that is not UTF-8', base64(Buffer.from('{"quantity":5,"x":"\xe9"}', 'latin1')), 400],
  ['in base64 that is empty', base64(''), 400],
  ['that claims to be in base64', { body: '{"quantity":5}', isBase64Encoded: true }, 400],
  ['that is missing', { body: null }, 400],
  ['that is missing and claims to be in base64', { body: null, isBase64Encoded: true }, 400],
])('a body %s gets its status', async (_, event, status) => {
  expect((await call(handler, { event })).statusCode).toBe(status);
});

// API Gateway never sends these: they come from a mistake in the stack, or a call by hand.
it.each<[string, event: unknown, context: unknown, status: number]>([
  ['no event', undefined, {}, 401],
  ['an event that is text', 'event', {}, 401],
  ['no context', {}, undefined, 200],
  ['a request context of nothing', { requestContext: null }, {}, 200],
  ['headers that are text', { multiValueHeaders: 'headers' }, {}, 500],
  ['a header that is a number', { multiValueHeaders: { a: 5 } }, {}, 500],
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
  const sent = typeof changes === 'object' ? { ...event, ...changes } : changes;
  const response = await invoke(
    sent,
    context && { awsRequestId: 'request-2', functionVersion: '3' },
  );
  expect(response.statusCode).toBe(status);
  expect(response.headers['X-Request-Id']).toMatch(/^[\w-]{8,}$/);
  expect(JSON.parse(String(response.body))).toMatchObject(status === 200 ? {} : { status });
  expect(logs.info.mock.calls).toMatchObject([[{ operation: 'updateInventory', status }]]);
  expect(logs.error).toHaveBeenCalledTimes(status === 500 ? 1 : 0);
});

const shop = 'https://shop.example';
const listed = { ...settings, allowedOrigins: ['https://www.petstore.example', shop] };

async function* onePage() {
  yield { items: Buffer.from('{}'), isLast: true };
}

const sendDocument = async () => ({ body: {} });
const response = streamedResponse(listInventory);
const handlers = {
  'a document': defineHandler(getPet, listed, sendDocument),
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
  const { headers } = await call(defineHandler(getPet, settings, sendDocument));
  expect(headers['Access-Control-Allow-Origin']).toBe('*');
  expect(headers).not.toHaveProperty('Vary');
});
