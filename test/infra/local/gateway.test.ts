import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { accessLogFormat } from '../../../infra/gateway/accessLogFormat.ts';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { type ExactResponse, exactFetch } from '../../support/exactFetch.ts';
import { startTestGateway, type TestGateway } from './testGateway.ts';

/** What the contract has at the path of an entry. */
const entryMethods = [
  ...Object.values(operations)
    .filter(({ path }) => path === '/inventory/{petId}')
    .map(({ method }) => method),
  'OPTIONS',
].join(', ');

/** What `listOrders` does next. */
let listOrders: (context: Context) => unknown = () => ({ statusCode: 200 });
let gateway: TestGateway;

beforeAll(async () => {
  const echo = async (event: APIGatewayProxyEvent) => ({
    statusCode: 200,
    body: JSON.stringify(event),
  });
  gateway = await startTestGateway(
    {
      updateInventory: echo,
      getPet: echo,
      listOrders: async (_: unknown, context: unknown) => listOrders(context as Context),
    },
    1_000,
  );
});
afterAll(() => gateway.drain());

async function send(method: string, path: string, body?: string | Buffer, headers = {}) {
  return exactFetch(`${gateway.baseUrl}${path}`, { method, headers, ...(body && { body }) });
}

async function sendForEvent(...args: Parameters<typeof send>): Promise<APIGatewayProxyEvent> {
  const response = await send(...args);
  expect(response.status).toBe(200);
  return JSON.parse(response.text);
}

/** API Gateway's own, in plain text. */
function expectTooLarge({ status, headers, text }: ExactResponse): void {
  expect([status, headers.get('Content-Type')]).toEqual([413, 'text/plain']);
  expect(text).toBe('HTTP content length exceeded 10485760 bytes.');
}

function expectError(response: ExactResponse, code: ErrorCode): void {
  const { status, headers } = response;
  expect(response.json()).toEqual({ code, message: expect.any(String), status });
  expect(status).toBe(statusOfCode[code]);
  expect(headers.get('Content-Type')).toBe('application/json');
  expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(headers.get('Access-Control-Expose-Headers')).toContain('X-Request-Id');
}

describe('the event of a function', () => {
  test('has the path parameter decoded, a slash in it included', async () => {
    const { pathParameters, path } = await sendForEvent('GET', '/pets/a%2Fb%20%C5%BD?x=1');
    expect(pathParameters).toEqual({ petId: 'a/b Ž' });
    expect(path).toBe('/pets/a%2Fb%20%C5%BD');
  });

  test('has a path parameter that cannot be decoded as it is', async () => {
    expect((await sendForEvent('GET', '/pets/%zz')).pathParameters).toEqual({ petId: '%zz' });
  });

  test('has the names of headers as the client wrote them', async () => {
    const { headers } = await sendForEvent('GET', '/pets/1', undefined, { 'x-MIXED-Case': 'a' });
    expect(headers['x-MIXED-Case']).toBe('a');
  });

  test('has the body as text, in which bytes that are not UTF-8 are replaced', async () => {
    const body = Buffer.from([0x7b, 0xff, 0xc5, 0xbd, 0x7d]);
    const event = await sendForEvent('PATCH', '/inventory/1', body);
    expect(event).toMatchObject({ body: '{\uFFFDŽ}', isBase64Encoded: false });
  });

  test('has null for a body without bytes', async () => {
    expect((await sendForEvent('PATCH', '/inventory/1')).body).toBeNull();
  });
});

describe('the gateway itself', () => {
  test.each(['/', '/nothing', '/inventory/', '/pets//', '/pets/1/2', '/INVENTORY'])(
    'answers 404 at %s',
    async (path) => expectError(await send('GET', path), 'not_found'),
  );

  test('answers 404 outside its stage', async () => {
    const response = await exactFetch(`http://127.0.0.1:${gateway.port}/v1x/inventory`);
    expectError(response, 'not_found');
  });

  test.each([
    ['DELETE', '/pets/1', 'GET, OPTIONS'],
    ['PROPFIND', '/inventory/1', entryMethods],
  ])('answers 405 to %s %s and says what is allowed', async (method, path, allow) => {
    const response = await send(method, path);
    expectError(response, 'method_not_allowed');
    expect(response.headers.get('Allow')).toBe(allow);
  });

  test.each(['text/csv', 'application/jsonp', 'image/png; q=1'])(
    'answers 415 at a path or method of no operation to the type %s, which no fixed answer knows',
    async (type) => {
      const headers = { 'Content-Type': type };
      for (const [method, path] of [
        ['POST', '/nothing'],
        ['PUT', '/pets/1'],
      ] as const) {
        const response = await send(method, path, Buffer.from('a'), headers);
        expectError(response, 'unsupported_media_type');
      }
    },
  );

  test('has its fixed answers for the types that it knows, with parameters and in any case', async () => {
    const headers = { 'Content-Type': 'Text/Plain; charset=utf-8' };
    expectError(await send('POST', '/nothing', Buffer.from('a'), headers), 'not_found');
  });

  test('answers a preflight, with no body and no function', async () => {
    const response = await send('OPTIONS', '/inventory/1');
    expect(response).toMatchObject({ status: 204, text: '' });
    expect(response.headers.get('Access-Control-Allow-Methods')).toBe(entryMethods);
    expect(response.headers.get('Access-Control-Allow-Headers')).toContain('If-Match');
    expect(response.headers.get('Access-Control-Max-Age')).toBe('7200');
  });

  test.each([
    [10 * 1024 * 1024 + 1, 'its own limit'],
    [7 * 1024 * 1024, "Lambda's limit"],
  ])('answers 413 to a body of %i bytes, past %s', async (size) => {
    expectTooLarge(await send('PATCH', '/inventory/1', Buffer.alloc(size, 32)));
  });

  test('answers 413 to a body past its limit that came without a length', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 32);
    const body = new ReadableStream({
      start(controller) {
        for (let count = 0; count < 11; count += 1) controller.enqueue(chunk);
        controller.close();
      },
    });
    const url = `${gateway.baseUrl}/inventory/1`;
    const response = await fetch(url, { method: 'PATCH', body, duplex: 'half' });
    expect(response.status).toBe(413);
  });

  test.each([10_300, 20_000])('answers 400 to headers of %i bytes', async (size) => {
    const headers = { 'X-Long': 'a'.repeat(size) };
    expectError(await send('GET', '/pets/1', undefined, headers), 'invalid_request');
  });

  test('answers 400 to what is not HTTP', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('inventory, please\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('"code":"invalid_request"');
    expect(answer).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
  });
});

describe('the access log', () => {
  test.each([
    ['GET', '/nothing?x=1', {}, { status: '404', path: '/v1/nothing', route: '-' }],
    ['PUT', '/pets/1', {}, { status: '405', route: '/pets/{petId}', gatewayError: '-' }],
    ['OPTIONS', '/pets/1', {}, { status: '204', route: '/pets/{petId}', bytes: 0 }],
    [
      'PUT',
      '/pets/1',
      { 'Content-Type': 'text/csv' },
      { status: '415', gatewayError: 'UNSUPPORTED_MEDIA_TYPE' },
    ],
  ])('has a line as on AWS of %s %s with %j', async (method, path, headers, expected) => {
    const before = gateway.accessLog.length;
    const response = await send(method, path, undefined, headers);
    const lines = gateway.accessLog.slice(before);
    const requestId = response.headers.get('X-Request-Id');
    expect(lines).toEqual([expect.objectContaining({ requestId, method, ...expected })]);
    expect(Object.keys(lines[0] ?? {})).toEqual(Object.keys(accessLogFormat));
    expect(Math.abs(Number(lines[0]?.time) - Date.now())).toBeLessThan(10_000);
  });

  test('leaves a request to its function, which has a log of its own', async () => {
    const before = gateway.accessLog.length;
    await sendForEvent('GET', '/pets/1');
    expect(gateway.accessLog).toHaveLength(before);
  });
});

describe('what a function answers', () => {
  test('reaches the client as it is, with a length and JSON as the type where it gives none', async () => {
    listOrders = () => ({ statusCode: 418, headers: { 'WWW-Authenticate': 'Bearer' }, body: '[]' });
    const { status, text: body, headers } = await send('GET', '/store/orders');
    expect({ status, body }).toEqual({ status: 418, body: '[]' });
    expect(headers.get('WWW-Authenticate')).toBe('Bearer');
    expect(headers.get('Content-Length')).toBe('2');
    expect(headers.get('Content-Type')).toBe('application/json');
  });

  test.each<[string, (context: Context) => unknown, ErrorCode]>([
    ['an error', () => Promise.reject(new Error('secret')), 'internal_error'],
    ['undefined', () => undefined, 'internal_error'],
    ['no status', () => ({ body: '[]' }), 'internal_error'],
    ['a body that is no text', () => ({ statusCode: 200, body: {} }), 'internal_error'],
    [
      'a header with a line end',
      () => ({ statusCode: 200, headers: { a: 'b\r\nc: d' } }),
      'internal_error',
    ],
    [
      'more than Lambda passes on',
      () => ({ statusCode: 200, body: 'a'.repeat(7 * 1024 * 1024) }),
      'internal_error',
    ],
    ['nothing in time', () => new Promise(() => {}), 'service_unavailable'],
  ])('%s becomes an error that tells nothing, with its cause in the log', async (_, act, code) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      listOrders = act;
      const response = await send('GET', '/store/orders');
      expectError(response, code);
      expect(response.text).not.toContain('secret');
      expect(log).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ requestId: response.headers.get('X-Request-Id') }),
      );
    } finally {
      log.mockRestore();
    }
  });

  test('is waited for within the time that the context tells of', async () => {
    listOrders = ({ getRemainingTimeInMillis, functionName }) => ({
      statusCode: 200,
      body: JSON.stringify([functionName, getRemainingTimeInMillis()]),
    });
    const [name, remaining] = JSON.parse((await send('GET', '/store/orders')).text);
    expect(name).toBe('listOrders');
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(1_000);
  });
});

describe('a gateway that closes', () => {
  test('answers what is under way and ends every other connection', async () => {
    const answered = Promise.withResolvers<unknown>();
    const called = Promise.withResolvers<void>();
    const closing = await startTestGateway({
      getPet: async () => {
        called.resolve();
        return answered.promise;
      },
    });
    const silent = connect(closing.port, '127.0.0.1');
    const silentEnded = once(silent, 'close');
    const response = exactFetch(`${closing.baseUrl}/pets/1`);
    await called.promise;
    const drained = closing.drain();
    await silentEnded;
    answered.resolve({ statusCode: 200, body: '"whole"' });
    expect((await response).text).toBe('"whole"');
    await drained;
    await expect(exactFetch(`${closing.baseUrl}/pets/1`)).rejects.toThrow('ECONNREFUSED');
  });
});
