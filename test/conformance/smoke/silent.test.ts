import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { defineAsking } from '../../../infra/ops/smoke/asking/asking.ts';
import { smoke } from './smokeRun.ts';

const apiKey = `psk_${'0'.repeat(42)}`;

describe('a target that does not answer', () => {
  let server: Server;

  async function start(answer: (asked: number) => string | undefined): Promise<string> {
    let asked = 0;
    server = createServer((_, response) => {
      asked += 1;
      const begin = answer(asked);
      if (begin !== undefined)
        response.writeHead(200, { 'X-Request-Id': `a${asked}` }).write(begin);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('is told by one line, when it is silent from the first request on', async () => {
    const baseUrl = await start(() => undefined);
    const run = await smoke({ baseUrl, apiKey, timeoutSeconds: 1 });
    expect(run.failures).toEqual([
      expect.stringMatching(/: GET \/inventory\?limit=1000 got no answer within 1 s\.$/),
    ]);
    expect(run.text).toMatch(/^0 rows passed, 1 failed, \d+ skipped; 1 request in 2 s\.$/m);
    expect(run.text.split('\n')).toHaveLength(3);
    expect(run.passed).toBe(false);
  });

  it('is told by one line, when it begins answers and does not end them', async () => {
    const baseUrl = await start(() => '[');
    const run = await smoke({ baseUrl, apiKey, timeoutSeconds: 1 });
    expect(run.failures).toEqual([
      expect.stringContaining('answered 200 and did not end within 1 s. The same in 2 more rows.'),
    ]);
  });

  it('ends with the time of the run', async () => {
    const baseUrl = await start(() => undefined);
    const run = await smoke({ baseUrl, apiKey, deadlineSeconds: 1 });
    expect(run.failures).toEqual([expect.stringContaining('The run was not done within 1 s.')]);
    expect(run.passed).toBe(false);
  });

  it('is told by one line, when nobody listens', async () => {
    const baseUrl = await start(() => undefined);
    server.close();
    await once(server, 'close');
    const run = await smoke({ baseUrl, apiKey });
    expect(run.failures).toEqual([
      expect.stringContaining('got no answer: connect ECONNREFUSED 127.0.0.1'),
    ]);
  });
});

describe('a list that comes slowly', () => {
  it.each([
    ['takes more than the timeout', 1_400, ']'],
    ['is told when it goes silent', 300, undefined],
  ])('%s', async (_, milliseconds, end) => {
    const server = createServer(async (__, response) => {
      response.writeHead(200, { 'X-Request-Id': '8f2c1e0a-6a6b' });
      for (let waited = 0; waited < milliseconds; waited += 100) {
        response.write(' ');
        await setTimeout(100);
      }
      if (end !== undefined) response.end(end);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const limits = { timeoutSeconds: 1, deadlineSeconds: 10, throttles: undefined };
    using asking = defineAsking({ baseUrl, apiKey, ...limits });
    const reading = asking.askStreamed({ path: '/inventory' }, [200], async ({ chunks }) =>
      (await Array.fromAsync(chunks)).join('').trim(),
    );
    if (end === undefined) await expect(reading).rejects.toThrow('200 and went silent for 1 s');
    else expect(await reading).toBe(end);
    server.closeAllConnections();
    server.close();
  });
});
