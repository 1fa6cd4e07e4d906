import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable, type Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startTestGateway, type TestGateway } from './testGateway.ts';

type Act = (responseStream: Writable) => Promise<unknown>;

/** The next action of `listInventory`. */
let act: Act;
let gateway: TestGateway;
let url: string;

beforeAll(async () => {
  const listInventory = (_: APIGatewayProxyEvent, stream: unknown) => act(stream as Writable);
  gateway = await startTestGateway({ listInventory });
  url = `${gateway.baseUrl}/inventory`;
});
afterAll(() => gateway.drain());

let log: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  log = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => log.mockRestore());

/** Like middy: the empty write sends status and headers. */
function begin(stream: Writable, headers: Record<string, string> = {}): Writable {
  const begun = awslambda.HttpResponseStream.from(stream, { statusCode: 200, headers });
  begun.write('');
  return begun;
}

async function open(): Promise<IncomingMessage> {
  const [response] = await once(get(url, { agent: false }), 'response');
  return response as IncomingMessage;
}

test('status, headers and each chunk are sent before the next exists', async () => {
  const [first, next] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  act = async (stream) => {
    const response = begin(stream, { 'X-Request-Id': 'a' });
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
  let made = 0;
  act = (stream) => {
    function* chunks() {
      for (; made < 256; made += 1) yield chunk;
    }
    return pipeline(Readable.from(chunks()), begin(stream));
  };
  const response = await open();
  response.pause();
  await expect.poll(() => made).toBeGreaterThan(0);
  await setTimeout(100);
  expect(made).toBeLessThan(256);
  expect((await text(response)).length).toBe(256 * chunk.length);
});

/** A client that starts to read, then resets its connection. */
async function connectAndLeave(port: number, untilLeaving: (socket: Socket) => Promise<unknown>) {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /v1/inventory HTTP/1.1\r\nHost: local\r\n\r\n');
  await untilLeaving(socket);
  socket.resetAndDestroy();
}

async function expectNoError(): Promise<void> {
  await setTimeout(20);
  expect(log).not.toHaveBeenCalled();
}

test.each<[string, string, number]>([
  ['between two chunks', 'a', 5],
  ['during a write', 'a'.repeat(64 * 1024), 0],
])(
  'a client that leaves %s ends the function’s stream without an error',
  async (_, chunk, pause) => {
    const released = Promise.withResolvers<unknown>();
    act = async (stream) => {
      async function* pages() {
        for (;;) {
          yield chunk;
          if (pause > 0) await setTimeout(pause);
        }
      }
      await pipeline(Readable.from(pages()), begin(stream)).catch(released.resolve);
    };
    await connectAndLeave(gateway.port, (socket) => once(socket, 'data'));
    expect(await released.promise).toMatchObject({ code: 'ERR_STREAM_PREMATURE_CLOSE' });
    await expectNoError();
  },
);

test('a client that leaves before its function is called is not an error', async () => {
  const called = Promise.withResolvers<void>();
  const listInventory = async (_: APIGatewayProxyEvent, stream: unknown) => {
    called.resolve();
    begin(stream as Writable).end();
  };
  const late = { failures: [], delayMilliseconds: 60 };
  const lateGateway = await startTestGateway({ listInventory }, 100, late);
  await connectAndLeave(lateGateway.port, () => setTimeout(30));
  await called.promise;
  // Longer than the timeout of a function that nobody waits for.
  await setTimeout(150);
  await expectNoError();
  await lateGateway.drain();
});
