import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Engine,
  type EngineOptions,
  startEmbeddedEngine,
} from '../../../../infra/local/engine/engine.ts';
import { defineEngineThread } from '../../../../infra/local/engine/engineThread.ts';
import { createTables } from '../../../../infra/local/localTables.ts';
import { exactFetch } from '../../../support/exactFetch.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'petstore-engine-'));
});
afterEach(() => rm(dir, { recursive: true }));

function defineClient(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return new DynamoDBClient({ endpoint, region: 'local', credentials, maxAttempts: 1 });
}

const startInThread = (options: EngineOptions) => defineEngineThread().startEngine(options);

test.each([
  ['', startEmbeddedEngine],
  [', from a thread of its own', startInThread],
])(
  'closes with writes under way, and has each that it acknowledged when it opens again%s',
  async (_, startEngine) => {
    const engine = await startEngine({ dir });
    const client = defineClient(engine.endpoint);
    await createTables(client);
    const acknowledged: string[] = [];
    const writes = Array.from({ length: 200 }, async (_, index) => {
      const Item = { p: { N: String(index) }, q: { N: '1' }, s: { S: 'a' } };
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
      acknowledged.push(String(index));
    });
    await Promise.race(writes);
    // Their connections go before their actions are done.
    client.destroy();
    await engine.close();
    await Promise.allSettled(writes);
    expect(acknowledged.length).toBeGreaterThan(0);

    const again = await startEngine({ dir });
    const reader = defineClient(again.endpoint);
    const { Items = [] } = await reader.send(new ScanCommand({ TableName: 'inventory' }));
    const kept = new Set(Items.map(({ p }) => p?.N));
    expect(acknowledged.filter((petId) => !kept.has(petId))).toEqual([]);
    reader.destroy();
    await again.close();
  },
);

test.each([
  ['', ''],
  [' of a transaction', 'X-Amz-Target: DynamoDB_20120810.TransactWriteItems\r\n'],
])('lives on when a client leaves in the middle of a request%s', async (_, target) => {
  const engine = await startEmbeddedEngine();
  const client = defineClient(engine.endpoint);
  await createTables(client);
  const socket = connect(Number(new URL(engine.endpoint).port), '127.0.0.1');
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\n${target}Content-Length: 100`;
  socket.write(`${head}\r\n\r\n{"half":`);
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.resetAndDestroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  const { Count } = await client.send(new ScanCommand({ TableName: 'pets' }));
  expect(Count).toBe(0);
  client.destroy();
  await engine.close();
});

test('keeps nothing of scans and queries that are over, whole or not, in memory and in a folder', async () => {
  const script = join(import.meta.dirname, 'leftIterators.ts');
  const { PATH, NODE_COMPILE_CACHE = '' } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [script, join(dir, 'store')], {
    env: { PATH, NODE_COMPILE_CACHE, AWS_REGION: 'local' },
  });
  const left = JSON.parse(stdout);
  expect(left).toEqual({ memory: expect.any(Number), folder: expect.any(Number) });
  expect(Math.max(left.memory, left.folder)).toBeLessThan(3);
});

describe('to a web page', () => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await startEmbeddedEngine();
  });
  afterEach(() => engine.close());

  async function send(method: string, headers: Record<string, string>) {
    const body = method === 'POST' ? '{}' : undefined;
    const answer = await exactFetch(`${engine.endpoint}/`, {
      method,
      headers,
      ...(body && { body }),
    });
    const names = [...answer.headers.keys()];
    const corsHeaders = names.filter((name) => name.startsWith('access-control-'));
    return { status: answer.status, corsHeaders, body: answer.text };
  }

  const listTables = {
    'Content-Type': 'application/x-amz-json-1.0',
    'X-Amz-Target': 'DynamoDB_20120810.ListTables',
    'X-Amz-Date': '20300101T000000Z',
    Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c',
  };
  const tables = { status: 200, corsHeaders: [], body: '{"TableNames":[]}' };

  test.each(['http://petstore.example', 'null', 'http://localhost:3000'])(
    'gives nothing away: no CORS headers for the origin %s, and no preflight granted',
    async (Origin) => {
      expect(await send('POST', { ...listTables, Origin })).toEqual(tables);
      const preflight = {
        Origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-amz-target,content-type,authorization',
      };
      expect(await send('OPTIONS', preflight)).toMatchObject({ status: 404, corsHeaders: [] });
    },
  );

  test.each(['127.0.0.1', '127.0.0.1:8000', 'localhost', 'LocalHost:8000', '[::1]', '[::1]:8000'])(
    'answers to the name %s',
    async (Host) => {
      expect(await send('POST', { ...listTables, Host })).toEqual(tables);
    },
  );

  test.each([
    'petstore.example',
    'petstore.example:8000',
    'localhost.petstore.example',
    '127.0.0.1.petstore.example',
    'petstore-localhost',
    '127.0.0.1:8000.petstore.example',
    '127x0x0x1',
    '0.0.0.0',
  ])('does not answer to the name %j, which may have been led here', async (Host) => {
    for (const method of ['POST', 'GET', 'OPTIONS']) {
      expect(await send(method, { ...listTables, Host })).toEqual({
        status: 403,
        corsHeaders: [],
        body: 'This answers only to 127.0.0.1, localhost and [::1] in the Host header.\n',
      });
    }
  });
});

test('refuses a folder that another engine has open', async () => {
  const engine = await startEmbeddedEngine({ dir });
  await createTables(defineClient(engine.endpoint));
  await expect(startEmbeddedEngine({ dir })).rejects.toThrow(/cannot be used: .*(using|lock)/);
  await engine.close();
});

test.each(['notes.txt', '000005.log'])(
  'refuses a folder that holds %s, and leaves it',
  async (name) => {
    await writeFile(join(dir, name), 'mine');
    await expect(startEmbeddedEngine({ dir })).rejects.toThrow(
      `cannot be used: it holds ${name}, `,
    );
    expect(await readdir(dir)).toEqual([name]);
  },
);

test('takes a folder with a hidden file, and its own again and again', async () => {
  await writeFile(join(dir, '.DS_Store'), '');
  for (let time = 0; time < 3; time += 1) {
    const engine = await startEmbeddedEngine({ dir });
    const client = defineClient(engine.endpoint);
    await createTables(client);
    client.destroy();
    await engine.close();
  }
  expect(await readdir(dir)).toContain('LOG.old');
});

test('refuses a folder that is a file', async () => {
  const file = join(dir, 'file');
  await writeFile(file, '');
  await expect(startEmbeddedEngine({ dir: file })).rejects.toThrow(/file cannot be used: /);
});
