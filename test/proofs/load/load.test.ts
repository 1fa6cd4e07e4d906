import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import type { ChildProcess } from '../../bench/childProcess.ts';
import { writeBundle } from '../../support/bundles.ts';
import { compare } from './comparison.ts';
import {
  loads,
  putUnderLoad,
  type RunningContender,
  type Started,
  startContender,
  type Vitals,
} from './contender.ts';
import { parseLoadOptions } from './loadOptions.ts';
import { MAX_GROWTH, soak } from './soak.ts';

// Seconds of a soak, which has three stretches.
const SHORT = 0.3;
/** For some requests, also on a machine that is busy. */
const LONG = 1.5;

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** @param failsEach how many requests there are to one that is answered 500, as the first is; 0 for none */
async function startServer(failsEach: number): Promise<{ port: number; count(): number }> {
  let count = 0;
  const server = createServer((_, response) => {
    response.statusCode = count % failsEach === 0 ? 500 : 200;
    count += 1;
    // As fast as it can, it would keep the processors from the tests beside it.
    setTimeout(() => response.end('{}'), 3);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, count: () => count };
}

const healthy: Vitals = {
  usedBytes: 40_000_000,
  rss: 300_000_000,
  errorLines: 0,
  cpuMilliseconds: 1,
};

/**
 * A server that is what a test makes of it: each time it is asked how it is, it gives the next answer, and notes
 * how many requests it has had.
 */
async function openContender(
  name: RunningContender['name'],
  vitals: Partial<Vitals>[],
  failsEach = 0,
): Promise<RunningContender & { readonly had: readonly number[] }> {
  const next = vitals[Symbol.iterator]();
  const { port, count } = await startServer(failsEach);
  const origin = `http://127.0.0.1:${port}`;
  const had: number[] = [];
  const process: ChildProcess<Started> = {
    first: { origin, apiKey: 'psk_none' },
    async ask<Reply>() {
      had.push(count());
      return { ...healthy, ...next.next().value } as Reply;
    },
    end: async () => {},
    kill: () => {},
  };
  return { name, bundles: {} as RunningContender['bundles'], process, had };
}

describe.concurrent('a soak', () => {
  test('of a service whose memory is flat has no problems, and counts its requests', async () => {
    const ours = await openContender('ours', [{}, {}, {}]);
    const { section, problems } = await soak(ours, 2, LONG);
    expect(problems).toEqual([]);
    expect(section.rows.map(([stretch]) => stretch)).toEqual([
      'warm-up',
      'first half',
      'second half',
    ]);
    let counted = 0;
    for (const [index, [, requests]] of section.rows.entries()) {
      counted += Number(requests);
      // At the end of a stretch, each connection has a request that is not answered any more.
      const unanswered = (ours.had[index] ?? 0) - counted;
      expect(unanswered).toBeGreaterThanOrEqual(0);
      expect(unanswered).toBeLessThanOrEqual(2 * (index + 1));
    }
    expect(counted).toBeGreaterThan(10);
  });

  test.each([
    ['from its start to its middle', [0, 1, 0]],
    ['from its start to its end', [0, 0.5, 1]],
    ['from its middle to its end', [1, 0, 1]],
  ])('of a service that grew %s fails', async (_, growths) => {
    const vitals = growths.map((growth) => ({
      usedBytes: healthy.usedBytes + growth * (MAX_GROWTH + 1),
    }));
    const { problems } = await soak(await openContender('ours', vitals), 2, SHORT);
    expect(problems).toEqual(['The memory of the functions is not flat.']);
  });

  test('fails at one request in a hundred that is answered 500, and at a line of level ERROR', async () => {
    const vitals = [{}, {}, { errorLines: 1, firstError: 'the line' }];
    const { problems } = await soak(await openContender('ours', vitals, 100), 2, LONG);
    expect(problems).toEqual([
      expect.stringMatching(/^ours: [1-9]\d* requests had no answer of 2xx\.$/),
      'ours: 1 lines of level ERROR, first the line',
    ]);
  });
});

test.concurrent('a comparison has a row for each contender, and names the one that failed', async () => {
  const broken = { errorLines: 2, firstError: 'the line' };
  const { section, problems } = await compare({
    title: 'Test',
    contenders: [
      await openContender('ours', []),
      await openContender('floor', Array(9).fill(broken)),
    ],
    settings: { load: 'lookups', connections: 2, seconds: 0.3 },
    rounds: 1,
    maxRatio: 1.43,
  });
  expect(section.rows.map(([name]) => name)).toEqual(['ours', 'floor']);
  expect(problems).toEqual(['floor: 2 lines of level ERROR, first the line']);
});

test.concurrent('the service that is compared is the one that is deployed, and answers', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-load-'));
  try {
    const paths = operationIds.map(async (id) => [id, await writeBundle(id, join(folder, id))]);
    const bundles = Object.fromEntries(await Promise.all(paths));
    const ours = await startContender({ name: 'ours', bundles });
    const settings = { load: 'mix', connections: 2, seconds: 0.4 } as const;
    const { perSecond, failures } = await putUnderLoad(ours.process.first, settings);
    expect(perSecond).toBeGreaterThan(0);
    expect(failures).toBe(0);
    await ours.process.end();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the mix is nine reads to an update', () => {
  const methods = loads.mix('psk_none').map(({ method }) => method);
  expect(methods.filter((method) => method === 'PATCH').length / methods.length).toBe(0.1);
});

test.each([
  [['--seconds', '0'], "Option '--seconds' must be a number from 1 to 9999, not '0'"],
  [['--connections', 'x'], "Option '--connections' must be a number from 1 to 9999, not 'x'"],
  [['--soak', '10s'], "Option '--soak' must be 60s or more, not '10s'"],
])('refuses %j', (args, message) => {
  expect(() => parseLoadOptions(args)).toThrow(message);
});
