import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { noFaults } from '../../../infra/local/gateway/faultInjection.ts';
import { parseOptions, start } from '../../../infra/local/start.ts';
import { runExport } from '../../../infra/ops/data/runExport.ts';
import { runImport } from '../../../infra/ops/data/runImport.ts';
import { runKeys } from '../../../infra/ops/keys/runKeys.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { callOps } from '../ops/opsProcess.ts';
import {
  killLocals,
  type LocalProcess,
  type ReadyStage,
  runLocal,
  runLocalCrashing,
  startLocal,
  untilReady,
} from './localProcess.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-local-'));
});
afterEach(killLocals);
afterAll(() => rm(folder, { recursive: true }));

interface Entry {
  petId: number | bigint;
  quantity: number;
}

async function list({ baseUrl, authorization }: ReadyStage): Promise<Entry[]> {
  const response = await exactFetch(`${baseUrl}/inventory`, { headers: authorization });
  expect(response.status).toBe(200);
  return response.json() as Entry[];
}

async function update(stage: ReadyStage, petId: number, quantity: number): Promise<number> {
  const { status } = await exactFetch(`${stage.baseUrl}/inventory/${petId}`, {
    method: 'PATCH',
    headers: { ...stage.authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify({ quantity }),
  });
  return status;
}

const withKey = (stage: ReadyStage, output: string): ReadyStage => {
  const [apiKey] = /psk_\w+/.exec(output) ?? [];
  return { ...stage, authorization: { Authorization: `Bearer ${apiKey}` } };
};

async function stop({ child, exited }: LocalProcess, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal);
  return exited;
}

async function writeData(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

/** A file that takes a while to load. */
function writeLargeData(): Promise<string> {
  const toEntry = (_: unknown, petId: number) => ({ petId, quantity: 1, status: 'sold' });
  const inventory = Array.from({ length: 20_000 }, toEntry);
  return writeData('large.json', JSON.stringify({ inventory }));
}

async function untilLoading({ child, stderr }: LocalProcess): Promise<void> {
  // A bar, which is drawn anew ten times a second.
  while (!/Loading .*large\.json: \d+% of 20,000 rows/.test(stderr())) {
    expect(child.exitCode).toBeNull();
    await setTimeout(20);
  }
}

/** A start in this process, which ends by itself; its listeners go, which would end a later test at its Ctrl-C. */
const startHere = (...args: string[]) =>
  callOps(async (typed) => {
    const signals = ['SIGINT', 'SIGTERM'] as const;
    const before = new Set(signals.flatMap((signal) => process.listeners(signal)));
    await start(typed);
    for (const signal of signals) {
      for (const one of process.listeners(signal)) if (!before.has(one)) process.off(signal, one);
    }
  }, args);

async function expectRefusal(status: number, message: string, ...args: string[]) {
  const outcome = await startHere(...args);
  expect(outcome.stderr).toContain(message);
  expect(outcome.stderr).toMatch(/^[^\n]+\n$/);
  expect(outcome).toMatchObject({ status, stdout: '' });
}

describe('a start', { timeout: 30_000 }, () => {
  test('serves the sample, logs requests, and ends on SIGINT and the echo of it that npm sends', async () => {
    const stage = await startLocal('--dir', join(folder, 'kept'));
    const [address, key, example, readKey = '', docs, ...others] = stage
      .stdout()
      .trimEnd()
      .split('\n');
    expect(address).toBe(`Base address: ${stage.baseUrl}`);
    expect(key).toBe(`API key: ${stage.authorization.Authorization.slice(7)}`);
    expect(example).toBe(
      `Try it: curl -H 'Authorization: ${stage.authorization.Authorization}' ${stage.baseUrl}/inventory`,
    );
    expect(docs).toBe(`Documentation: ${stage.baseUrl.replace('/v1', '/docs/')}`);
    expect(others).toEqual([]);
    expect((await list(stage)).map(({ petId }) => petId)).toContain(9007199254740993n);
    expect(readKey).toMatch(/^Read key: psk_\w+$/);
    const reader = withKey(stage, readKey);
    expect(await list(reader)).toHaveLength(50);
    expect(await update(reader, 1, 5)).toBe(403);
    expect(await update(stage, 9, 4321)).toBe(200);
    stage.child.kill('SIGINT');
    expect(await stop(stage, 'SIGINT')).toBe(0);
    const lines = stage.stderr().trim().split('\n');
    const logged = ([operation, status]: [string, number]) => ({
      timestamp: expect.any(String),
      level: 'INFO',
      requestId: expect.any(String),
      message: expect.objectContaining({ operation, status }),
    });
    const calls: [string, number][] = [
      ['listInventory', 200],
      ['listInventory', 200],
      ['updateInventory', 403],
      ['updateInventory', 200],
    ];
    expect(lines.map((line) => JSON.parse(line))).toEqual(calls.map(logged));
  });

  test('says how far it is with a large file, and can be broken off', async () => {
    const local = runLocal('--port', '0', '--data', await writeLargeData());
    await untilLoading(local);
    expect(await stop(local)).toBe(0);
    expect(local.stdout()).toBe('');
  });

  test('goes on with the data in a folder: acknowledged updates, data given over them, and what commands load', async () => {
    const dir = join(folder, 'kept');
    const stage = await startLocal('--dir', dir);
    expect(await list(stage)).toContainEqual(expect.objectContaining({ petId: 9, quantity: 4321 }));
    await expectRefusal(1, 'another process is using it', '--port', '0', '--dir', dir);
    const acknowledged = new Map<number, number>();
    async function keepUpdating(petId: number): Promise<void> {
      for (let quantity = 1000; ; quantity += 1) {
        if ((await update(stage, petId, quantity)) === 200) acknowledged.set(petId, quantity);
      }
    }
    const clients = Array.from({ length: 8 }, (_, index) => keepUpdating(index + 1));
    const ended = Promise.allSettled(clients);
    await vi.waitFor(() => expect(acknowledged.size).toBe(8), 10_000);
    await setTimeout(100);
    expect(await stop(stage)).toBe(0);
    await ended;
    expect(stage.stderr()).not.toContain('"level":"ERROR"');

    const entries = [9, 777].map((petId) => ({ petId, quantity: 5, status: 'sold' }));
    const file = await writeData('over.json', JSON.stringify({ inventory: entries }));
    const again = await startLocal('--dir', dir, '--data', file, '--expose-dynamodb', '0');
    expect(again.authorization).not.toEqual(stage.authorization);
    const kept = await list(again);
    expect(kept).toHaveLength(51);
    expect(kept).toEqual(expect.arrayContaining(entries));
    const quantities = new Map(kept.map(({ petId, quantity }) => [petId, quantity]));
    for (const [petId, last] of acknowledged) {
      // An update may be done although its client never heard of it.
      expect([last, last + 1]).toContain(quantities.get(petId));
    }

    const lines = again.stdout().trimEnd().split('\n');
    const exposed = /^DynamoDB: (\S+), with the tables inventory, pets, orders, requests, apiKeys$/;
    const [, endpoint = ''] = exposed.exec(lines[5] ?? '') ?? [];
    const from = ['--endpoint', endpoint];
    const stock = await writeData('stock.csv', 'petId,quantity,status\n778,3,sold\n');
    expect(await callOps(runImport, [...from, '--inventory', stock])).toMatchObject({ status: 0 });
    const key = ['--name', 'rehearsal', '--permission', 'read', '--table', 'apiKeys'];
    const { stdout } = await callOps(runKeys, ['create', ...from, ...key]);
    const imported = { petId: 778, quantity: 3, status: 'sold' };
    expect(await list(withKey(again, stdout))).toContainEqual(imported);
    const saved = join(folder, 'saved.csv');
    expect(await callOps(runExport, [...from, '--inventory', saved])).toMatchObject({ status: 0 });
    expect((await readFile(saved, 'utf8')).split('\n')).toContain('778,3,sold');
    expect(await stop(again)).toBe(0);
  });
});

describe('a start that cannot succeed', () => {
  test.each([
    ['--port', []],
    ['--expose-dynamodb', ['--port', '0']],
  ])('names a port in use, and the option %s that gives another', async (option, others) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const message = `Port ${port} cannot be used: it is in use. Give another one with ${option},`;
    await expectRefusal(1, message, ...others, option, port);
    other.close();
  });

  test('names what is wrong with the data', async () => {
    const file = await writeData('not-ok.json', '{"pets": [');
    const args = ['--port', '0', '--data', file];
    await expectRefusal(1, 'not-ok.json cannot be used: Unexpected end of JSON', ...args);
  });
});

// An error in the engine's thread that nobody catches, once there is a file.
describe('a crash of the engine', { timeout: 20_000 }, () => {
  const line = 'The embedded DynamoDB has crashed, and the stage ends: no more of this\n';

  test('ends a stage with one line and status 1, at once', async () => {
    const trigger = join(folder, 'serving');
    const stage = await untilReady(runLocalCrashing(trigger, '--port', '0', '--delay', '29s'));
    const asked = exactFetch(`${stage.baseUrl}/inventory`, { headers: stage.authorization });
    const outcome = asked.catch((error: Error) => error);
    // Its answer is not waited for, since none could be a good one.
    await setTimeout(100);
    await writeFile(trigger, '');
    expect(await stage.exited).toBe(1);
    expect(stage.stderr().endsWith(`\x1b[K${line}`)).toBe(true);
    expect(await outcome).toBeInstanceOf(Error);
  });

  test('ends a load that is under way', async () => {
    const trigger = join(folder, 'loading');
    const local = runLocalCrashing(trigger, '--port', '0', '--data', await writeLargeData());
    await untilLoading(local);
    await writeFile(trigger, '');
    expect(await local.exited).toBe(1);
    expect(local.stdout()).toBe('');
    expect(local.stderr()).toMatch(new RegExp(`(^|\\r\\x1b\\[K)${line}$`));
  });
});

describe('the options', () => {
  const inMemory = { port: 3000, faultInjection: noFaults, help: false };
  test.each<[string, object]>([
    ['', inMemory],
    [
      '--port 0 --data stock.json --dir=kept --expose-dynamodb 8000 --help --fail 503:0.1 --fail=429:.2 --delay 2s',
      {
        port: 0,
        data: 'stock.json',
        dir: 'kept',
        enginePort: 8_000,
        faultInjection: {
          failures: [
            { status: 503, share: 0.1 },
            { status: 429, share: 0.2 },
          ],
          delayMilliseconds: 2_000,
        },
        help: true,
      },
    ],
    [
      '--delay 29000ms --fail 503:1 --port 65535',
      {
        port: 65_535,
        faultInjection: { failures: [{ status: 503, share: 1 }], delayMilliseconds: 29_000 },
        help: false,
      },
    ],
    [
      // As decimals, they are 1 together.
      '--fail 503:0.2 --fail 503:0.4 --fail 503:0.3 --fail 503:0.1',
      {
        ...inMemory,
        faultInjection: {
          failures: [0.2, 0.4, 0.3, 0.1].map((share) => ({ status: 503, share })),
          delayMilliseconds: 0,
        },
      },
    ],
  ])('%j are read', (line, options) => {
    expect(parseOptions(line === '' ? [] : line.split(' '))).toEqual(options);
  });

  test.each([
    ['--port 65536', "Option '--port' must be a number from 0 to 65535, not '65536'"],
    ['--expose-dynamodb 80x', "Option '--expose-dynamodb' must be a number from 0 to 65535"],
    ['--port=', "not ''"],
    ['--port', "'--port <value>' argument missing. See --help."],
    ['--fail 503', "'--fail' must be such as 503:0.1"],
    [
      '--fail 200:0.1',
      "one of 400, 401, 403, 404, 405, 412, 413, 415, 429, 500, 503, not '200:0.1'",
    ],
    ['--fail 503:1.5', "not '503:1.5'"],
    ['--fail 503:0.6 --fail 500:0.6', 'must not be more than 1 together'],
    ['--delay 200', "'--delay' must be such as 200ms or 2s"],
    ['--delay 30s', "up to 29s, not '30s'"],
    ['stock.json', "Unexpected argument 'stock.json'"],
  ])('%s are refused in one line', async (line, message) => {
    await expectRefusal(2, message, ...line.split(' '));
  });

  test('are all in --help', async () => {
    const { status, stdout } = await startHere('--help');
    expect(status).toBe(0);
    const named = [...stdout.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, name]) => name);
    expect(named).toEqual(['--port', '--data', '--dir', '--fail', '--delay', '--expose-dynamodb']);
  });
});
