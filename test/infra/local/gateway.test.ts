import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { accessLogFormat } from '../../../infra/gateway/accessLogFormat.ts';
import { injectedStatuses, injectFault } from '../../../infra/local/gateway/faultInjection.ts';
import { type ErrorCode, statusOfCode } from '../../../shared/contract/errorBody.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { ErrorBody } from '../../../shared/contract/schemas.ts';
import { type ExactResponse, exactFetch } from '../../support/exactFetch.ts';
import { documentationAddress, startTestGateway, type TestGateway } from './testGateway.ts';

/** What the contract has at the path of an entry. */
const entryMethods = [
  ...Object.values(operations)
    .filter(({ path }) => path === '/inventory/{petId}')
    .map(({ method }) => method),
  'OPTIONS',
].join(', ');

/** What `listOrders` does next. */
let listOrders: (event: APIGatewayProxyEvent, context: Context) => unknown;
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
      listOrders: async (event: APIGatewayProxyEvent, context: unknown) =>
        listOrders(event, context as Context),
    },
    500,
  );
});
afterAll(() => gateway.drain());

/** @param line the method and the address behind the host, such as `GET /v1/pets/1` */
async function send(line: string, body?: string | Buffer, headers = {}) {
  const [method = '', path] = line.split(' ');
  const url = `http://127.0.0.1:${gateway.port}${path}`;
  return exactFetch(url, { method, headers, ...(body && { body }) });
}

async function sendForEvent(...args: Parameters<typeof send>): Promise<APIGatewayProxyEvent> {
  const response = await send(...args);
  expect(response.status).toBe(200);
  return JSON.parse(response.text);
}

/** What comes back on a connection up to its end, without what only says to go on. */
async function sendBytes(bytes: string, port = gateway.port): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(bytes);
  return (await text(socket)).split(/(?=HTTP\/1\.1 )/);
}

function expectError(response: ExactResponse, code: ErrorCode): void {
  const { status, headers } = response;
  expect(status).toBe(statusOfCode[code]);
  // API Gateway's own: plain text, and none of our headers.
  if (code === 'payload_too_large') {
    expect(headers.get('Content-Type')).toBe('text/plain');
    expect(response.text).toBe('HTTP content length exceeded 10485760 bytes.');
    return;
  }
  expect(response.json()).toEqual({ code, message: expect.any(String), status });
  expect(headers.get('Content-Type')).toBe('application/json');
  expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get('Access-Control-Allow-Origin')).toBe('*');
  expect(headers.get('Access-Control-Expose-Headers')).toContain('X-Request-Id');
}

describe('the event of a function', () => {
  test('has the stage in its context alone, and null for what is absent', async () => {
    const event = await sendForEvent('GET /v1/pets/7');
    expect(event).toMatchObject({
      resource: '/pets/{petId}',
      path: '/pets/7',
      httpMethod: 'GET',
      pathParameters: { petId: '7' },
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      stageVariables: null,
      body: null,
      isBase64Encoded: false,
      requestContext: {
        path: '/v1/pets/7',
        resourcePath: '/pets/{petId}',
        httpMethod: 'GET',
        stage: 'v1',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        identity: { sourceIp: '127.0.0.1', userAgent: null },
      },
    });
    listOrders = ({ pathParameters }) => ({ statusCode: 200, body: `${pathParameters}` });
    expect((await send('GET /v1/store/orders')).text).toBe('null');
  });

  test('has each query parameter decoded, of repeated ones the last and all', async () => {
    const event = await sendForEvent('GET /v1/pets/1?a=1&b=%C5%BD+x&a=2&c');
    expect(event.queryStringParameters).toEqual({ a: '2', b: 'Ž x', c: '' });
    expect(event.multiValueQueryStringParameters).toEqual({ a: ['1', '2'], b: ['Ž x'], c: [''] });
  });

  test('has headers as the client wrote them, and each line', async () => {
    const lines = { 'if-MATCH': '"a"', 'X-Two': ['1', '2'], 'User-Agent': 'shop/1' };
    const event = await sendForEvent('GET /v1/pets/1', undefined, lines);
    expect(event.headers).toMatchObject({ 'if-MATCH': '"a"', 'X-Two': '2' });
    expect(event.multiValueHeaders).toMatchObject({ 'if-MATCH': ['"a"'], 'X-Two': ['1', '2'] });
    expect(event.requestContext.identity.userAgent).toBe('shop/1');
  });

  test.each([
    ['a%2Fb%20%C5%BD', 'a/b Ž'],
    ['%zz', '%zz'],
  ])('has the path parameter %s decoded where it can be', async (written, petId) => {
    const { pathParameters, path } = await sendForEvent(`GET /v1/pets/${written}?x=1`);
    expect(pathParameters).toEqual({ petId });
    expect(path).toBe(`/pets/${written}`);
  });

  test('has the body as text, in which bytes that are not UTF-8 are replaced', async () => {
    const body = Buffer.from([0x7b, 0xff, 0xc5, 0xbd, 0x7d]);
    const event = await sendForEvent('PATCH /v1/inventory/1', body);
    expect(event).toMatchObject({ body: '{\uFFFDŽ}', isBase64Encoded: false });
  });

  test('is that of a request to a proxy, too, which names the origin', async () => {
    const [answer = ''] = await sendBytes(
      'GET http://petstore.example/v1/pets/7?a=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    );
    expect(answer).toContain('"path":"/pets/7"');
    expect(answer).toContain('"queryStringParameters":{"a":"1"}');
  });
});

const entry = '/inventory/{petId}';
const pet = '/pets/{petId}';
/** API Gateway's response type; its fixed answers have none. */
const gatewayErrorOf: Partial<Record<ErrorCode, string>> = {
  unsupported_media_type: 'UNSUPPORTED_MEDIA_TYPE',
  invalid_request: 'DEFAULT_4XX',
  payload_too_large: 'REQUEST_TOO_LARGE',
};
const tooLong = `${10 * 1024 ** 2 + 1}`;

describe('the gateway itself', () => {
  // The conformance suite has more paths and methods. No fixed answer is for a type that is neither JSON nor text.
  test.each<[string, string, ErrorCode, string?]>([
    ['GET /', '', 'not_found'],
    ['GET /v1x/inventory', '', 'not_found'],
    ['GET /v1/nothing?x=1', '', 'not_found'],
    ['GET /v1/inventory/', '', 'not_found'],
    ['GET /v1/pets//', '', 'not_found'],
    ['GET /v1/pets/1/2', '', 'not_found'],
    ['GET /v1/INVENTORY', '', 'not_found'],
    ['POST /v1/nothing', 'Content-Type:Text/Plain; charset=utf-8', 'not_found'],
    ['POST /v1/nothing', 'Content-Type:text/csv', 'unsupported_media_type'],
    ['DELETE /v1/pets/1', '', 'method_not_allowed', pet],
    ['PUT /v1/pets/1', 'Content-Type:text/csv', 'unsupported_media_type', pet],
    ['PUT /v1/pets/1', 'Content-Type:image/png; q=1', 'unsupported_media_type', pet],
    ['PUT /v1/pets/1', 'Content-Type:application/jsonp', 'unsupported_media_type', pet],
    ['GET /v1/pets/1', `X-Long:${'a'.repeat(10_300)}`, 'invalid_request'],
    ['GET /v1/inventory/1', 'Expect:x', 'invalid_request'],
    ['PATCH /v1/inventory/1', 'Expect:x', 'invalid_request'],
    ['PATCH /v1/inventory/1', `Content-Length:${tooLong}`, 'payload_too_large', entry],
  ])(
    'answers %s with %j by %s, and has a line of it as on AWS',
    async (line, header, code, route = '-') => {
      const before = gateway.accessLog.length;
      const [name = '', value] = header.split(':');
      const headers = { Connection: 'close', ...(value && { [name]: value }) };
      const response = await send(line, undefined, headers);
      expectError(response, code);
      const logged = gateway.accessLog.slice(before);
      const [method, target = ''] = line.split(' ');
      const status = String(response.status);
      const path = target.split('?')[0];
      const bytes = response.bytes.length;
      const gatewayError = gatewayErrorOf[code] ?? '-';
      expect(logged).toMatchObject([{ method, path, status, bytes, route, gatewayError }]);
      const requestId = response.headers.get('X-Request-Id');
      if (requestId) expect(logged).toMatchObject([{ requestId }]);
      expect(Object.keys(logged[0] ?? {})).toEqual(Object.keys(accessLogFormat));
      expect(Math.abs(Number(logged[0]?.time) - Date.now())).toBeLessThan(10_000);
    },
  );

  test.each([
    ['DELETE /v1/pets/1', 'GET, OPTIONS'],
    ['PROPFIND /v1/inventory/1', entryMethods],
  ])('says what is allowed to %s', async (line, allow) => {
    expect((await send(line)).headers.get('Allow')).toBe(allow);
  });

  test('answers a preflight, with no body and no function', async () => {
    const before = gateway.accessLog.length;
    const response = await send('OPTIONS /v1/inventory/1');
    expect(response).toMatchObject({ status: 204, text: '' });
    expect(response.headers.has('Content-Length')).toBe(false);
    expect(response.headers.get('Access-Control-Allow-Methods')).toBe(entryMethods);
    expect(response.headers.get('Access-Control-Allow-Headers')).toContain('If-Match');
    expect(response.headers.get('Access-Control-Max-Age')).toBe('7200');
    expect(gateway.accessLog.slice(before)).toEqual([
      expect.objectContaining({ status: '204', route: '/inventory/{petId}', bytes: 0 }),
    ]);
  });

  test('answers 413 to a body past Lambda’s limit, and to one past its own without a length, before its end', async () => {
    const body = Buffer.alloc(7 * 1024 ** 2, 32);
    expectError(await send('PATCH /v1/inventory/1', body), 'payload_too_large');
    const chunk = `100000\r\n${' '.repeat(1024 ** 2)}\r\n`;
    const head = 'PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    const [answer] = await sendBytes(
      `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(11)}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('leaves a request to its function, which has a log of its own', async () => {
    const before = gateway.accessLog.length;
    await sendForEvent('GET /v1/pets/1');
    expect(gateway.accessLog).toHaveLength(before);
  });
});

describe('what a function answers', () => {
  test('reaches the client as it is, with a length and JSON as the type where it gives none', async () => {
    const multiValueHeaders = { 'X-Two': [1, 'b'] };
    const headers = { 'WWW-Authenticate': 'Bearer' };
    listOrders = () => ({ statusCode: 418, headers, multiValueHeaders, body: '[]' });
    const response = await send('GET /v1/store/orders');
    expect(response).toMatchObject({ status: 418, text: '[]' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'www-authenticate': 'Bearer',
      'x-two': '1, b',
      'content-length': '2',
      'content-type': 'application/json',
    });
    listOrders = () => ({ statusCode: 304, headers: { 'content-TYPE': 'text/plain' } });
    const empty = await send('GET /v1/store/orders');
    expect(empty.headers.get('Content-Type')).toBe('text/plain');
    expect(empty.headers.has('Content-Length')).toBe(false);
  });

  test.each<[string, () => unknown, ErrorCode]>([
    ['an error', () => Promise.reject(new Error('secret')), 'internal_error'],
    ['undefined', () => undefined, 'internal_error'],
    ['no status', () => ({ body: '[]' }), 'internal_error'],
    ['a status that is none', () => ({ statusCode: 199 }), 'internal_error'],
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
      const response = await send('GET /v1/store/orders');
      expectError(response, code);
      expect(response.text).not.toContain('secret');
      expect(log).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ requestId: response.headers.get('X-Request-Id') }),
      );
    } finally {
      log.mockRestore();
    }
  });

  test('is waited for within the time that the context names', async () => {
    listOrders = (_, { getRemainingTimeInMillis, functionName }) => ({
      statusCode: 200,
      body: JSON.stringify([functionName, getRemainingTimeInMillis()]),
    });
    const [name, remaining] = JSON.parse((await send('GET /v1/store/orders')).text);
    expect(name).toBe('listOrders');
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(500);
  });
});

describe('a connection', () => {
  test('lets a client that waits for it send its body', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(
      'PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n',
    );
    expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('1234');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"body":"1234"/);
  });

  test('of a client that leaves in the middle of its request is no error', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    await setTimeout(30);
    socket.resetAndDestroy();
    await setTimeout(30);
    expect(log).not.toHaveBeenCalled();
    log.mockRestore();
  });

  test('that asks for a tunnel is answered as at an unknown path, and ended', async () => {
    const before = gateway.accessLog.length;
    const tunnel = 'CONNECT petstore.example:443 HTTP/1.1\r\nHost: x\r\n\r\n';
    const [answer] = await sendBytes(tunnel);
    expect(answer).toMatch(/^HTTP\/1\.1 404 [\s\S]*\r\nConnection: close\r\n[\s\S]*"not_found"/);
    expect(gateway.accessLog.slice(before)).toEqual([
      expect.objectContaining({ method: 'CONNECT', path: 'petstore.example:443', status: '404' }),
    ]);
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write(tunnel);
    socket.resetAndDestroy();
    // The gateway lives on.
    expectError(await send('GET /v1/nothing'), 'not_found');
  });

  test.each([
    ['alone', '', 'inventory, please\r\n\r\n'],
    ['with headers past all limits', '', `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['behind an update', 'PATCH /v1/inventory/7', 'no HTTP\r\n\r\n'],
    ['in a header behind an update', 'PATCH /v1/inventory/7', 'GET / HTTP/1.1\r\nno colon\r\n\r\n'],
  ])('with what is not HTTP, %s, is answered in order and ended', async (_, update, rest) => {
    const slow = await startTestGateway({
      async updateInventory() {
        await setTimeout(20);
        return { statusCode: 200, body: '{"petId":7}' };
      },
    });
    const first = update && `${update} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
    const answers = await sendBytes(`${first}${rest}`, slow.port);
    if (first) expect(answers.shift()).toMatch(/^HTTP\/1\.1 200 .*\{"petId":7\}$/s);
    expect(answers).toEqual([
      expect.stringMatching(
        /^HTTP\/1\.1 400 .*\r\nX-Request-Id: [0-9a-f-]{36}\r\n.*"code":"invalid_request"/s,
      ),
    ]);
    await slow.drain();
  });

  test('is ended when the gateway closes, once it is answered', async () => {
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

describe('fault injection', () => {
  test('has every status of the contract’s errors', () => {
    expect(injectedStatuses).toEqual(Object.values(statusOfCode));
  });

  test.each(injectedStatuses)('answers %i with the contract’s body and headers', async (status) => {
    const getPet = vi.fn(async () => ({ statusCode: 200 }));
    const faultInjection = { failures: [{ status, share: 1 }], delayMilliseconds: 0 };
    const faulty = await startTestGateway({ getPet }, 1_000, faultInjection);
    const { headers, ...response } = await exactFetch(`${faulty.baseUrl}/pets/1`);
    await faulty.drain();
    expect(response.status).toBe(status);
    expect(getPet).not.toHaveBeenCalled();
    if (status === 413) return expect(headers.get('Content-Type')).toBe('text/plain');
    const body = ErrorBody.parse(response.json());
    expect([body.status, statusOfCode[body.code]]).toEqual([status, status]);
    expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('Deprecation')).toBe('@1796083200');
    expect(headers.get('Link')).toContain(`<${documentationAddress}/deprecations`);
    expect(headers.has('Retry-After')).toBe(status === 429 || status === 503);
    expect(headers.has('WWW-Authenticate')).toBe(status === 401 || status === 403);
    expect(headers.get('ETag')).toEqual(
      status === 412 ? expect.stringMatching(/^"[\w-]+"$/) : null,
    );
    expect(headers.get('Allow')).toBe(status === 405 ? 'GET, OPTIONS' : null);
  });

  const call = { operation: operations.getPet, allow: '', documentationAddress };

  test.each([
    [0, 'service_unavailable'],
    [0.0999, 'service_unavailable'],
    [0.1001, 'too_many_requests'],
    [0.2999, 'too_many_requests'],
    [0.3001, undefined],
    [0.9999, undefined],
  ])('draws %d for %s', async (drawn, code) => {
    const failures = [
      { status: 503, share: 0.1 },
      { status: 429, share: 0.2 },
    ];
    const error = await injectFault({ failures, delayMilliseconds: 0 }, call, () => drawn);
    expect(error?.code).toBe(code);
  });

  test('draws nothing where nothing is to fail, and keeps a delay', async () => {
    const started = performance.now();
    const delay = { failures: [], delayMilliseconds: 30 };
    expect(await injectFault(delay, call, () => expect.fail('drawn'))).toBeUndefined();
    expect(performance.now() - started).toBeGreaterThanOrEqual(29);
  });
});
