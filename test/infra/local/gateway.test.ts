import { once } from 'node:events';
import { connect } from 'node:net';
import type { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { defineThrottling, injectFault } from '../../../infra/local/gateway/faultInjection.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { mapOperations, operations } from '../../../shared/contract/operations.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import { documentationAddress, startTestGateway, type TestGateway } from './testGateway.ts';

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

beforeAll(async () => {
  const respond = async (event: APIGatewayProxyEvent, stream: Writable) => act(event, stream);
  gateway = await startTestGateway(mapOperations(() => respond));
});
afterAll(() => gateway.drain());

let info: ReturnType<typeof vi.spyOn>;
let error: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  info = vi.spyOn(console, 'info').mockImplementation(() => {});
  error = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

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
const breakOff = (stream: Writable) =>
  awslambda.HttpResponseStream.from(stream, { statusCode: 200 }).write('[1');

// The conformance suite has more paths, methods and bodies.
const exchanges: [what: string, bytes: string | Buffer, act?: Act][] = [
  [
    'all of a request, raw and decoded, of which one byte is not UTF-8',
    Buffer.from(
      `${toLast(decoded, 'if-MATCH: "a"', ...two, 'Content-Length: 5')}{\xff\xc5\xbd}`,
      'latin1',
    ),
    echo,
  ],
  // RFC 9112 section 3.2.2.
  ['a target in absolute form', toLast('GET HTTP://shop.example:80/v1/pets/7?a=/v1/x'), echo],
  ['an undecodable path parameter', toLast('GET /v1/pets/%zz'), echo],
  ['no parameters and no body', orders, echo],
  ['a path without the stage', toLast('GET /')],
  ['a path with a slash at its end', toLast('GET /v1/inventory/')],
  ['a target in absolute form without a path', toLast('GET http://shop.example?x')],
  ['headers above the limit', toLast('GET /v1/pets/1', `X-Long: ${'a'.repeat(10_300)}`)],
  ['an unknown Expect header', toLast('GET /v1/pets/1', 'Expect: x')],
  ['a length above Lambda’s limit', toLast(patch, `Content-Length: ${6 * MEBIBYTE + 1}`)],
  ['a length above the gateway’s limit', toLast(patch, `Content-Length: ${10 * MEBIBYTE + 1}`)],
  ['a body above that limit before another request', tooLong + toLast('GET /v1/nothing')],
  ['no HTTP', 'inventory, please\r\n\r\n'],
  ['headers above all limits', toHead('GET /', `X: ${'a'.repeat(20_000)}`)],
  ['no HTTP in a body', `${toHead(patch, chunked)}no size\r\n`],
  ['no HTTP after an update', `${update}no HTTP\r\n\r\n`, updated],
  ['no HTTP in a header after an update', `${update}${toHead('GET /', 'no colon')}`, updated],
  [
    'a response of a function',
    orders,
    () => ({ statusCode: 418, headers: { 'WWW-Authenticate': 'Bearer' }, body: '[]' }),
  ],
  ['a response without a body', orders, () => ({ statusCode: 304 })],
  ['an error of a function', orders, () => Promise.reject(new Error('secret'))],
  ['no response of a function', orders, () => undefined],
  ['a body that is not text', orders, () => ({ statusCode: 200, body: {} })],
  [
    'more than Lambda passes on',
    orders,
    () => ({ statusCode: 200, body: 'a'.repeat(6 * MEBIBYTE + 1) }),
  ],
  ['a timeout', orders, () => new Promise(() => {})],
  ['an error before a list', list, () => Promise.reject(new Error('early'))],
  ['a list that never ends', list, async () => {}],
  ['a timeout of a list', list, () => new Promise(() => {})],
  // Without the last chunk, no truncated list looks complete.
  [
    'an error within a list',
    list,
    async (_, stream) => {
      breakOff(stream);
      await setTimeout(20);
      throw new Error('late');
    },
  ],
  ['a timeout within a list', list, (_, stream) => new Promise(() => breakOff(stream))],
];

test('the gateway sends these responses in their order, and logs its own', async () => {
  let screen = '';
  for (const [what, bytes, next = () => expect.unreachable()] of exchanges) {
    act = next;
    const responses = await onFastClock(() => sendBytes(bytes));
    const logged = [...info.mock.calls, ...error.mock.calls].map(([line]) => JSON.stringify(line));
    screen += `# ${what}\n${[...responses, ...logged].join('\n')}\n\n`;
    vi.clearAllMocks();
  }
  const text = screen
    .replaceAll(/[0-9a-f-]{36}/g, 'ID')
    .replaceAll(/^Date: .*\r\n/gm, '')
    .replaceAll('\r', '')
    // Stacks, and texts of Node.js.
    .replaceAll(/(\\n +at |(?<=TypeError): ).*"/g, '"');
  await expect(text).toMatchFileSnapshot('exchanges.txt');
});

describe('a connection', () => {
  test('of a client that leaves in the middle of its request is no error', async () => {
    const socket = connect(gateway.port, '127.0.0.1');
    socket.write('PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    await setTimeout(30);
    socket.resetAndDestroy();
    await setTimeout(30);
    expect(error).not.toHaveBeenCalled();
  });

  test('ends after its response when the gateway closes', async () => {
    const responded = Promise.withResolvers<unknown>();
    const called = Promise.withResolvers<void>();
    const closing = await startTestGateway({
      getPet: async () => {
        called.resolve();
        return responded.promise;
      },
    });
    const silentEnded = once(connect(closing.port, '127.0.0.1'), 'close');
    const response = exactFetch(`${closing.baseUrl}/pets/1`);
    await called.promise;
    const drained = closing.drain();
    await setTimeout(20);
    responded.resolve({ statusCode: 200, body: '"whole"' });
    expect((await response).text).toBe('"whole"');
    expect((await response).headers.get('Connection')).toBe('close');
    await Promise.all([drained, silentEnded]);
    await expect(exactFetch(`${closing.baseUrl}/pets/1`)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('fault injection', () => {
  test('draws one of the failures by their shares', async () => {
    using draw = vi.spyOn(Math, 'random');
    const failures = [
      { status: 503, share: 0.1 },
      { status: 429, share: 0.2 },
    ];
    const drawn = [0, 0.0999, 0.1001, 0.2999, 0.3001, 0.9999].map((value) => {
      draw.mockReturnValueOnce(value);
      return injectFault({ failures }, operations.getPet, '', documentationAddress);
    });
    const codes = (await Promise.all(drawn)).map((fault) => fault?.code);
    const [first, second] = ['service_unavailable', 'too_many_requests'];
    expect(codes).toEqual([first, first, second, second, undefined, undefined]);
  });

  test.each(['updateInventory', 'listInventory'] as const)(
    'loses the response of %s after it took effect, as a closed connection',
    async (operationId) => {
      let calls = 0;
      async function updateInventory() {
        calls++;
        return { statusCode: 200, body: '{}' };
      }
      async function listInventory(_: unknown, stream: Writable) {
        calls++;
        const response = awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
        await finished(response.end('[]'));
      }
      const functions = { updateInventory, listInventory };
      const lossy = await startTestGateway(functions, 1_000, { lostShare: 1 });
      const { method, path } = operations[operationId];
      const lost = exactFetch(lossy.baseUrl + path, { method });
      await expect(lost).rejects.toMatchObject({ code: 'ECONNRESET' });
      expect(calls).toBe(1);
      const requestId = expect.any(String);
      expect(info.mock.calls).toEqual([[{ requestId, message: 'This response is lost.' }]]);
      expect((await exactFetch(`${lossy.baseUrl}/nothing`)).status).toBe(404);
      await lossy.drain();
      expect(error).not.toHaveBeenCalled();
    },
  );
});

describe('throttling', () => {
  test('refuses what exceeds the burst of an operation, and lets others through', async () => {
    const { throttles } = stages.production.settings;
    const getPet = vi.fn(echo);
    const { baseUrl, drain } = await startTestGateway({ getPet, updateInventory: echo }, 1_000, {
      throttles: { ...throttles, getPet: { rate: 0.1, burst: 2 }, other: { rate: 0.1, burst: 3 } },
    });
    for (const [line, status] of [
      ['GET /pets/1', 200],
      ['GET /pets/1', 200],
      ['GET /pets/1', 429],
      ['GET /nothing', 404],
      ['DELETE /pets/1', 405],
      ['OPTIONS /pets/1', 204],
      ['GET /nothing', 429],
      ['PATCH /inventory/1', 200],
    ] as const) {
      const [method = '', path] = line.split(' ');
      expect((await exactFetch(`${baseUrl}${path}`, { method })).status, line).toBe(status);
    }
    expect(getPet).toHaveBeenCalledTimes(2);
    await drain();
  });

  test('fills the bucket at the rate, up to the burst', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const isThrottled = defineThrottling(stages.production.settings.throttles);
    const countPassed = (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds);
      let count = 0;
      while (!isThrottled('listInventory')) count++;
      return count;
    };
    expect([0, 199, 2, 1_000, 3_600_000].map(countPassed)).toEqual([20, 0, 1, 5, 20]);
    expect(isThrottled('updateInventory')).toBe(false);
  });
});
