import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { exposedHeaders } from '../../../shared/contract/headers.ts';
import { mapOperations } from '../../../shared/contract/operations.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import { keepGatewayLogs, startTestGateway, type TestGateway } from './testGateway.ts';

const chunked = 'Transfer-Encoding: chunked';

/** What a function does; one that responds with a list gets a stream. */
type Act = (event: APIGatewayProxyEvent, stream: Writable) => unknown;
/** The next action of each function. */
let act: Act;
let gateway: TestGateway;
const echo = async (event: APIGatewayProxyEvent) => ({
  statusCode: 200,
  headers: {},
  body: JSON.stringify(event, null, 2),
});
/** Where the request goes, and with what. */
const echoPath = async ({ requestContext, ...event }: APIGatewayProxyEvent) => {
  const { resource, path, pathParameters, queryStringParameters, headers } = event;
  const parts = [requestContext.path, path, resource, pathParameters, queryStringParameters];
  return { statusCode: 200, headers: {}, body: JSON.stringify([...parts, headers.Host]) };
};

beforeAll(async () => {
  const respond = async (event: APIGatewayProxyEvent, stream: Writable) => act(event, stream);
  gateway = await startTestGateway(mapOperations(() => respond));
});
afterAll(() => gateway.drain());

const logs = keepGatewayLogs();

/** Sends bytes. @returns what the connection receives until its end */
async function sendBytes(bytes: string | Buffer): Promise<string[]> {
  const socket = connect(gateway.port, '127.0.0.1').setEncoding('utf8');
  socket.write(bytes);
  return (await text(socket)).split(/(?=HTTP\/1\.1 )/);
}

const MEBIBYTE = 1024 ** 2;
const toHead = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`;
const toLast = (line: string, ...headers: string[]) =>
  toHead(line, ...headers, 'Connection: close');
const patch = 'PATCH /v1/inventory/7';
const update = `${toHead(patch, 'Content-Length: 2')}{}`;
const chunk = `100000\r\n${' '.repeat(MEBIBYTE)}\r\n`;
const tooLong = `${toHead(patch, chunked)}${chunk.repeat(30)}0\r\n\r\n`;
const orders = toLast('GET /v1/store/orders');
const list = toLast('GET /v1/inventory');
const updated = async () => {
  await setTimeout(20);
  return { statusCode: 200, body: '{"petId":7}' };
};
const two = ['X-Two: 1', 'X-Two: 2', 'User-Agent: shop/0', 'User-Agent: shop/1'];
const decoded = 'PATCH /v1/inventory/a%2Fb%20%C5%BD?a=1&b=%C5%BD+x&a=2&c';
/** Like middy: the first write sends status and headers. */
function begin(stream: Writable, text = '', headers: Record<string, string> = {}): Writable {
  const sent = awslambda.HttpResponseStream.from(stream, { statusCode: 200, headers });
  sent.write(text);
  return sent;
}

// The conformance suite has more paths, methods and bodies.
const exchanges: Readonly<Record<string, [bytes: string | Buffer, act?: Act]>> = {
  'all of a request, raw and decoded, of which one byte is not UTF-8': [
    Buffer.from(
      `${toLast(decoded, 'if-MATCH: "a"', ...two, 'Content-Length: 5')}{\xff\xc5\xbd}`,
      'latin1',
    ),
    echo,
  ],
  // RFC 9112 section 3.2.2.
  'a target in absolute form': [
    toLast('GET HTTP://shop.example:80/v1/inventory/7?a=/v1/x'),
    echoPath,
  ],
  'an undecodable path parameter': [toLast('GET /v1/inventory/%zz'), echoPath],
  'no parameters and no body': [orders, echoPath],
  'a path without the stage': [toLast('GET /')],
  // The event as AWS sends it: https://github.com/localstack/localstack/pull/11304
  'a path with a slash at its end': [toLast('GET /v1/store/orders/'), echoPath],
  'doubled slashes before and behind the stage': [toLast('GET //v1//inventory/7'), echoPath],
  'doubled slashes further on': [toLast('PATCH /v1/inventory///7//'), echoPath],
  'encoded slashes': [toLast('GET /v1/store%2Forders')],
  'an unknown path with a key and a quote': [toLast(`GET /v1/psk_${'0'.repeat(42)}/"`)],
  'another method on a path with a key': [toLast(`DELETE /v1/inventory/psk_${'0'.repeat(42)}"`)],
  'headers above the limit': [toLast('GET /v1/inventory/1', `X-Long: ${'a'.repeat(10_300)}`)],
  'an unknown Expect header': [toLast('GET /v1/inventory/1', 'Expect: x')],
  'a length above Lambda’s limit': [toLast(patch, `Content-Length: ${6 * MEBIBYTE + 1}`)],
  'a length above the gateway’s limit': [toLast(patch, `Content-Length: ${10 * MEBIBYTE + 1}`)],
  'a body above that limit before another request': [tooLong + toLast('GET /v1/nothing')],
  'no HTTP': ['inventory, please\r\n\r\n'],
  'headers above all limits': [toHead('GET /', `X: ${'a'.repeat(20_000)}`)],
  'no HTTP after an update': [`${update}no HTTP\r\n\r\n`, updated],
  'no HTTP in a header after an update': [`${update}${toHead('GET /', 'no colon')}`, updated],
  'a response of a function': [
    orders,
    () => ({ statusCode: 418, headers: { 'WWW-Authenticate': 'Bearer' }, body: '[]' }),
  ],
  'an error of a function': [orders, () => Promise.reject(new Error('secret'))],
  'a body that is not text': [orders, () => ({ statusCode: 200, body: {} })],
  'more than Lambda passes on': [
    orders,
    () => ({ statusCode: 200, body: 'a'.repeat(6 * MEBIBYTE + 1) }),
  ],
  'a timeout': [orders, () => new Promise(() => {})],
  'an error before a list': [list, () => Promise.reject(new Error('early'))],
  'a list that never ends': [list, async () => {}],
  'a timeout of a list': [list, () => new Promise(() => {})],
  // Without the last chunk, no truncated list looks complete.
  'an error within a list': [
    list,
    async (_, stream) => {
      begin(stream, '[1');
      await setTimeout(20);
      throw new Error('late');
    },
  ],
  'a timeout within a list': [list, (_, stream) => new Promise(() => begin(stream, '[1'))],
};

/** The headers that errors of the gateway share. */
const errorHeaders = `Content-Type: application/json
X-Request-Id: ID
Access-Control-Allow-Origin: *
Access-Control-Expose-Headers: ${exposedHeaders.join(',')}`;

/** A response in one line, without a body of several. */
function toLine(response: string): string {
  const [head = '', body = ''] = response.split('\n\n');
  const headers = head.replace('HTTP/1.1 ', '').replace(errorHeaders, 'as errors');
  return `  ${headers.trimEnd().replaceAll('\n', '; ')}: ${body.trimEnd().replaceAll('\n', ' ')}`;
}

test('the gateway sends these responses in their order, and logs its own', async () => {
  const rows: string[] = [];
  for (const [name, [bytes, next = () => expect.unreachable()]] of Object.entries(exchanges)) {
    act = next;
    const sent = await onFastClock(() => sendBytes(bytes));
    const responses = sent.map((one) =>
      one
        .replaceAll('\r', '')
        .replace(/^Date: .*\n/m, '')
        .replaceAll(/[0-9a-f-]{36}/g, 'ID'),
    );
    const logged = [...logs.info.mock.calls, ...logs.error.mock.calls].map(
      ([line]) => `  Log: ${JSON.stringify(line).replaceAll(/[0-9a-f-]{36}/g, 'ID')}`,
    );
    vi.clearAllMocks();
    rows.push(name, ...(next === echo ? responses : responses.map(toLine)), ...logged);
  }
  // Stacks, and texts of Node.js.
  const text = rows.join('\n').replaceAll(/(\\n +at |(?<=TypeError): ).*"/g, '"');
  await expect(`${text}\n`).toMatchFileSnapshot('exchanges.txt');
});

async function open(): Promise<IncomingMessage> {
  const [response] = await once(get(`${gateway.baseUrl}/inventory`, { agent: false }), 'response');
  return response as IncomingMessage;
}

test('status, headers and each chunk are sent before the next exists', async () => {
  const [first, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  act = async (_, stream) => {
    const response = begin(stream, '', { 'X-Request-Id': 'a' });
    await first.promise;
    response.write('[1');
    await next.promise;
    await pipeline(Readable.from([',2]']), response);
  };
  const response = await open();
  expect(response.statusCode).toBe(200);
  expect(response.headers['x-request-id']).toBe('a');
  first.resolve();
  expect(String((await once(response, 'data'))[0])).toBe('[1');
  next.resolve();
  expect(await text(response)).toBe(',2]');
});

test('the function pauses while the client does not read', async () => {
  const chunk = 'a'.repeat(64 * 1024);
  // Together more than the buffers of a connection may hold, some 37 MB on Linux.
  const count = 640;
  let made = 0;
  act = (_, stream) => {
    function* chunks() {
      for (; made < count; made += 1) yield chunk;
    }
    return pipeline(Readable.from(chunks()), begin(stream));
  };
  const response = await open();
  response.pause();
  await expect.poll(() => made).toBeGreaterThan(0);
  await setTimeout(100);
  expect(made).toBeLessThan(count);
  expect((await text(response)).length).toBe(count * chunk.length);
});

/** A client that sends bytes, then resets its connection. */
async function connectAndLeave(bytes: string, untilLeaving: (socket: Socket) => Promise<unknown>) {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write(bytes);
  await untilLeaving(socket);
  socket.resetAndDestroy();
}

async function expectNoError(): Promise<void> {
  await setTimeout(30);
  expect(logs.error).not.toHaveBeenCalled();
}

test('a client that leaves in the middle of its request is not an error', async () => {
  await connectAndLeave(`${toHead(patch, 'Content-Length: 9')}{`, () => setTimeout(30));
  await expectNoError();
});

test('a client that leaves between two chunks ends the function’s stream without an error', async () => {
  const released = Promise.withResolvers<unknown>();
  act = async (_, stream) => {
    async function* pages() {
      for (;;) {
        yield 'a';
        await setTimeout(5);
      }
    }
    await pipeline(Readable.from(pages()), begin(stream)).catch(released.resolve);
  };
  await connectAndLeave(list, (socket) => once(socket, 'data'));
  expect(await released.promise).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
  await expectNoError();
});

test('a connection ends after its response when the gateway closes', async () => {
  const responded = Promise.withResolvers<unknown>();
  const called = Promise.withResolvers<void>();
  const closing = await startTestGateway({
    getInventoryEntry: async () => {
      called.resolve();
      return responded.promise;
    },
  });
  const silentEnded = once(connect(closing.port, '127.0.0.1'), 'close');
  const response = exactFetch(`${closing.baseUrl}/inventory/1`);
  await called.promise;
  const drained = closing.drain();
  await setTimeout(20);
  responded.resolve({ statusCode: 200, body: '"whole"' });
  expect((await response).text).toBe('"whole"');
  expect((await response).headers.get('Connection')).toBe('close');
  await Promise.all([drained, silentEnded]);
  await expect(exactFetch(`${closing.baseUrl}/inventory/1`)).rejects.toThrow('ECONNREFUSED');
});
