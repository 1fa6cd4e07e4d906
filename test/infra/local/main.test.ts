import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { start } from '../../../infra/local/start.ts';
import { runExport } from '../../../infra/ops/data/runExport.ts';
import { runImport } from '../../../infra/ops/data/runImport.ts';
import { runKeys } from '../../../infra/ops/keys/runKeys.ts';
import { exactFetch } from '../../support/exactFetch.ts';
import { callOps, type Outcome } from '../ops/opsProcess.ts';
import {
  killLocals,
  type ReadyStage,
  runLocal,
  runLocalOnTerminal,
  startLocal,
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

async function stop({ child, exited }: ReadyStage, signal: NodeJS.Signals = 'SIGTERM') {
  child.kill(signal);
  return exited;
}

async function writeData(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

describe('a start', { timeout: 30_000 }, () => {
  test('serves the sample, shows how, and ends with status 0 on SIGTERM', async () => {
    const stage = await startLocal();
    const curl = /^Try it: curl -H '(Authorization: Bearer psk_\w+)' (\S+)$/m;
    const [, header = '', url = ''] = curl.exec(stage.stdout()) ?? [];
    const [name = '', value = ''] = header.split(': ');
    const response = await exactFetch(url, { headers: { [name]: value } });
    expect(response.json()).toHaveLength(50);
    expect((await list(stage)).map(({ petId }) => petId)).toContain(9007199254740993n);
    const [, readKey = ''] = /^Read key: (psk_\w+)$/m.exec(stage.stdout()) ?? [];
    const read = { Authorization: `Bearer ${readKey}` };
    expect(await list({ ...stage, authorization: read })).toHaveLength(50);
    expect(await update({ ...stage, authorization: read }, 1, 5)).toBe(403);
    expect(await stop(stage)).toBe(0);
    const lines = stage.stdout().trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe(`Documentation: ${stage.baseUrl.replace('/v1', '/docs/')}`);
  });

  test('logs each request as one line of JSON, and ends with status 0 on SIGINT and the echo of it that npm sends', async () => {
    const stage = await startLocal();
    await list(stage);
    stage.child.kill('SIGINT');
    expect(await stop(stage, 'SIGINT')).toBe(0);
    const lines = stage.stderr().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        timestamp: expect.any(String),
        level: 'INFO',
        requestId: expect.any(String),
        message: expect.objectContaining({ operation: 'listInventory', status: 200 }),
      },
    ]);
  });

  test('says how far it is with a large file, and can be broken off', async () => {
    const entries = Array.from({ length: 20_000 }, (_, petId) => ({
      petId,
      quantity: 1,
      status: 'available',
    }));
    const file = await writeData('large.json', JSON.stringify({ inventory: entries }));
    const local = runLocalOnTerminal('--port', '0', '--data', file);
    // A bar, which is drawn anew ten times a second.
    while (!/Loading .*large\.json \[#*\.+\] \d+% of 20,000 rows/.test(local.stderr())) {
      expect(local.child.exitCode).toBeNull();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    local.child.kill('SIGTERM');
    expect(await local.exited).toBe(0);
    expect(local.stdout()).toBe('');
  });
});

describe('a start that cannot succeed', { timeout: 30_000 }, () => {
  test('is a process that ends with one line and its status', async () => {
    const local = runLocal('--prot', '1');
    expect(await local.exited).toBe(2);
    expect(local.stderr()).toBe("Unknown option '--prot'. See --help.\n");
    expect(local.stdout()).toBe('');
  });

  test.each([
    ['--port', []],
    ['--expose-dynamodb', ['--port', '0']],
  ])('names a port in use, and the option %s that gives another', async (option, others) => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    const message = new RegExp(`^Port ${port} cannot be used: it is in use\\. .*with ${option},`);
    await expectRefusal(1, message, ...others, option, port);
    other.close();
  });

  test.each([
    ['{"pets": [', /not-ok\.json cannot be used: it is not JSON/],
    ['{"inventory": [{"petId": 1, "status": "sold"}]}', /inventory\[0\]\.quantity must be/],
  ])('names what is wrong with the data %s', async (text, message) => {
    const file = await writeData('not-ok.json', text);
    await expectRefusal(1, message, '--port', '0', '--data', file);
  });

  test('names a data file that is not there', async () => {
    const file = join(folder, 'absent.json');
    await expectRefusal(1, /absent\.json cannot be used: ENOENT/, '--port', '0', '--data', file);
  });
});

test('--help tells of every option', async () => {
  const { status, stdout } = await startHere('--help');
  expect(status).toBe(0);
  const options = ['--port N', '--data FILE.json', '--dir FOLDER', '--fail', '--delay'];
  for (const option of [...options, '--expose-dynamodb PORT']) {
    expect(stdout).toContain(option);
  }
});

/** A start in this process, which ends by itself. */
function startHere(...args: string[]): Promise<Outcome> {
  return callOps(async (typed) => {
    process.exitCode = await start(typed);
  }, args);
}

async function expectRefusal(status: number, message: RegExp, ...args: string[]) {
  const outcome = await startHere(...args);
  expect(outcome.stderr).toMatch(message);
  expect(outcome.stderr).toMatch(/^[^\n]+\n$/);
  expect(outcome).toMatchObject({ status, stdout: '' });
}

describe('exposed tables', { timeout: 30_000 }, () => {
  test('let commands make keys, load data and save it, as a stage’s do', async () => {
    const empty = await writeData('empty.json', '{}');
    const stage = await startLocal('--data', empty, '--expose-dynamodb', '0');
    const [, endpoint = '', tables] =
      /^DynamoDB: (\S+), with the tables (.+)$/m.exec(stage.stdout()) ?? [];
    expect(tables).toBe('inventory, pets, orders, requests, apiKeys');
    expect(stage.stdout().trimEnd().split('\n')).toHaveLength(6);

    const stock = await writeData('stock.csv', 'petId,quantity,status\n7,3,sold\n');
    const from = ['--endpoint', endpoint];
    expect(await callOps(runImport, [...from, '--inventory', stock])).toMatchObject({ status: 0 });
    const key = ['--name', 'rehearsal', '--permission', 'read', '--table', 'apiKeys'];
    const created = await callOps(runKeys, ['create', ...from, ...key]);
    const [apiKey = ''] = /psk_\w+/.exec(created.stdout) ?? [];
    const reader = { ...stage, authorization: { Authorization: `Bearer ${apiKey}` } };
    expect(await list(reader)).toEqual([{ petId: 7, quantity: 3, status: 'sold' }]);
    const saved = join(folder, 'saved.csv');
    expect(await callOps(runExport, [...from, '--inventory', saved])).toMatchObject({ status: 0 });
    expect(await readFile(saved, 'utf8')).toBe(await readFile(stock, 'utf8'));
    expect(await stop(stage)).toBe(0);
  });
});

describe('a folder', { timeout: 60_000 }, () => {
  test('is one stage’s alone, and takes data that is given over the updates that it keeps', async () => {
    const dir = join(folder, 'kept');
    const first = await startLocal('--dir', dir);
    await expectRefusal(1, /another process is using it/, '--port', '0', '--dir', dir);
    expect(await update(first, 1, 4321)).toBe(200);
    expect(await stop(first)).toBe(0);

    const entries = [2, 777].map((petId) => ({ petId, quantity: 5, status: 'sold' }));
    const file = await writeData('over.json', JSON.stringify({ inventory: entries }));
    const second = await startLocal('--dir', dir, '--data', file);
    expect(second.authorization).not.toEqual(first.authorization);
    const merged = await list(second);
    expect(merged).toHaveLength(51);
    expect(merged).toEqual(expect.arrayContaining(entries));
    expect(merged).toContainEqual(expect.objectContaining({ petId: 1, quantity: 4321 }));
    expect(await stop(second)).toBe(0);
  });

  test('has every update that was acknowledged before a SIGTERM in the midst of traffic', async () => {
    const dir = join(folder, 'traffic');
    const stage = await startLocal('--dir', dir);
    const acknowledged = new Map<number, number>();
    async function keepUpdating(petId: number): Promise<void> {
      for (let quantity = 1000; ; quantity += 1) {
        if ((await update(stage, petId, quantity)) === 200) acknowledged.set(petId, quantity);
      }
    }
    const clients = Array.from({ length: 8 }, (_, index) => keepUpdating(index + 1));
    const ended = Promise.allSettled(clients);
    await vi.waitFor(() => expect(acknowledged.size).toBe(8), 10_000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await stop(stage)).toBe(0);
    await ended;
    expect(stage.stderr()).not.toContain('"level":"ERROR"');

    const again = await startLocal('--dir', dir);
    const kept = await list(again);
    expect(kept).toHaveLength(50);
    for (const { petId, quantity } of kept) {
      const last = acknowledged.get(Number(petId));
      // An update may be done although its client never heard of it.
      if (last !== undefined) expect([last, last + 1]).toContain(quantity);
    }
    expect(await stop(again)).toBe(0);
  });
});
