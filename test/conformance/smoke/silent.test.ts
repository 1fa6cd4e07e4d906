import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { describe, it } from 'vitest';
import { defineAsking } from '../../../infra/ops/smoke/asking/asking.ts';
import { systemClock } from '../../../infra/ops/smoke/asking/clock.ts';
import { smoke } from './smokeRun.ts';

const apiKey = `psk_${'0'.repeat(42)}`;

/** A stage of a test's own, at whose end it closes. */
interface SilentStage extends AsyncDisposable {
  readonly baseUrl: string;
}

async function start(answer: RequestListener): Promise<SilentStage> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, [Symbol.asyncDispose]: () => stop(server) };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** @param begin of each answer, which never ends */
function startToAnswer(begin: string): Promise<SilentStage> {
  let asked = 0;
  return start((_, response) => {
    asked += 1;
    response.writeHead(200, { 'X-Request-Id': `a${asked}` }).write(begin);
  });
}

describe.concurrent('a target that does not answer', () => {
  it('is told by one line, when it is silent from the first request on', async ({ expect }) => {
    await using stage = await start(() => {});
    const run = await smoke({ baseUrl: stage.baseUrl, apiKey, timeoutSeconds: 1 });
    expect(run.failures).toEqual([
      expect.stringMatching(/: GET \/inventory\?limit=1000 got no answer within 1 s\.$/),
    ]);
    expect(run.text).toMatch(/^0 rows passed, 1 failed, \d+ skipped; 1 request in 2 s\.$/m);
    expect(run.text.split('\n')).toHaveLength(3);
    expect(run.passed).toBe(false);
  });

  it('is told by one line, when it begins answers and does not end them', async ({ expect }) => {
    await using stage = await startToAnswer('[');
    const run = await smoke({ baseUrl: stage.baseUrl, apiKey, timeoutSeconds: 0.7 });
    expect(run.failures).toEqual([
      expect.stringContaining(
        'answered 200 and did not end within 0.7 s. The same in 2 more rows.',
      ),
    ]);
  });

  it('ends with the time of the run', async ({ expect }) => {
    await using stage = await start(() => {});
    const run = await smoke({ baseUrl: stage.baseUrl, apiKey, deadlineSeconds: 1 });
    expect(run.failures).toEqual([expect.stringContaining('The run was not done within 1 s.')]);
    expect(run.passed).toBe(false);
  });

  it('is told by one line, when nobody listens', async ({ expect }) => {
    const stage = await start(() => {});
    await stage[Symbol.asyncDispose]();
    const run = await smoke({ baseUrl: stage.baseUrl, apiKey });
    expect(run.failures).toEqual([
      expect.stringContaining('got no answer: connect ECONNREFUSED 127.0.0.1'),
    ]);
  });
});

describe.concurrent('a list that comes slowly', () => {
  it.for([
    ['takes more than the timeout', 1_400, ']'],
    ['is told when it goes silent', 300, undefined],
  ] as const)('%s', async ([, milliseconds, end], { expect }) => {
    await using stage = await start(async (_, response) => {
      response.writeHead(200, { 'X-Request-Id': '8f2c1e0a-6a6b' });
      for (let waited = 0; waited < milliseconds; waited += 100) {
        response.write(' ');
        await setTimeout(100);
      }
      if (end !== undefined) response.end(end);
    });
    const limits = { timeoutSeconds: 1, deadlineSeconds: 10, throttles: undefined };
    const { baseUrl } = stage;
    using asking = defineAsking({ baseUrl, apiKey, clock: systemClock, ...limits });
    const reading = asking.askStreamed({ path: '/inventory' }, [200], async ({ chunks }) =>
      (await Array.fromAsync(chunks)).join('').trim(),
    );
    if (end === undefined) await expect(reading).rejects.toThrow('200 and went silent for 1 s');
    else expect(await reading).toBe(end);
  });
});
