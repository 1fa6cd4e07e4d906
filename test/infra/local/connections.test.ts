import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from './testGateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    updateInventory: async ({ body }: APIGatewayProxyEvent) => ({ statusCode: 200, body }),
  });
});
afterAll(() => gateway.drain());

function open() {
  return connect(gateway.port, '127.0.0.1');
}

async function sendLines(...lines: string[]): Promise<string> {
  const socket = open();
  socket.write(`${lines.join('\r\n')}\r\nHost: local\r\n\r\n`);
  return text(socket);
}

test.each(['GET', 'PATCH'])(
  'answers 400 to %s with an expectation that nobody meets',
  async (method) => {
    const before = gateway.accessLog.length;
    const answer = await sendLines(
      `${method} /v1/inventory/1 HTTP/1.1`,
      'Expect: x',
      'Connection: close',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain(
      '{"code":"invalid_request","message":"The request is not valid.","status":400}',
    );
    expect(answer).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(gateway.accessLog.slice(before)).toEqual([
      expect.objectContaining({ method, status: '400', gatewayError: 'DEFAULT_4XX' }),
    ]);
  },
);

test('lets a client that waits for it send its body', async () => {
  const socket = open();
  const head = [
    'PATCH /v1/inventory/1 HTTP/1.1',
    'Host: local',
    'Expect: 100-Continue',
    'Content-Length: 4',
    'Connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('1234');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n1234$/);
});

test('answers a request for a tunnel as one for an unknown path, and ends the connection', async () => {
  const before = gateway.accessLog.length;
  const answer = await sendLines('CONNECT petstore.example:443 HTTP/1.1');
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  expect(answer).toContain('"code":"not_found"');
  expect(answer).toMatch(/\r\nConnection: close\r\n/);
  expect(gateway.accessLog.slice(before)).toEqual([
    expect.objectContaining({ method: 'CONNECT', path: 'petstore.example:443', status: '404' }),
  ]);
});

test('lives on when a client that asked for a tunnel breaks the connection', async () => {
  const socket = open();
  socket.write('CONNECT petstore.example:443 HTTP/1.1\r\nHost: local\r\n\r\n');
  socket.resetAndDestroy();
  const answer = await sendLines('GET /v1/nothing HTTP/1.1', 'Connection: close');
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
});

const update = 'PATCH /v1/inventory/7 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}';

/** What comes back on a connection up to its end. */
async function answersTo(port: number, bytes: string): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(bytes);
  return (await text(socket)).split(/(?=HTTP\/1\.1 )/);
}

test.each([
  ['bytes that are no HTTP', 'no HTTP\r\n\r\n'],
  ['a request that is none', 'GET /v1/inventory HTTP/1.1\r\nno colon\r\n\r\n'],
])('an update that %s follow is answered as it was stored, and they after it', async (_, rest) => {
  const slow = await startTestGateway({
    async updateInventory() {
      await setTimeout(20);
      return { statusCode: 200, body: '{"petId":7}' };
    },
  });
  const [first, second, ...others] = await answersTo(slow.port, `${update}${rest}`);
  expect(first).toMatch(/^HTTP\/1\.1 200 .*\{"petId":7\}$/s);
  expect(second).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
  expect(others).toEqual([]);
  await slow.drain();
});
