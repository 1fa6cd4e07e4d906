import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startTestGateway } from './testGateway.ts';

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
  const gateway = await startTestGateway({
    async updateInventory() {
      await setTimeout(20);
      return { statusCode: 200, body: '{"petId":7}' };
    },
  });
  const [first, second, ...others] = await answersTo(gateway.port, `${update}${rest}`);
  expect(first).toMatch(/^HTTP\/1\.1 200 .*\{"petId":7\}$/s);
  expect(second).toMatch(/^HTTP\/1\.1 400 .*"code":"invalid_request"/s);
  expect(others).toEqual([]);
  await gateway.drain();
});
