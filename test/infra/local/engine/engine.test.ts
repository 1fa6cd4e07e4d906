import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Engine,
  type EngineOptions,
  startEmbeddedEngine,
} from '../../../../infra/local/engine/engine.ts';
import { defineEngineThread } from '../../../../infra/local/engine/engineThread.ts';
import { StartFailure } from '../../../../infra/local/engine/loopback.ts';
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

describe.each([
  ['in this thread', startEmbeddedEngine],
  ['in a thread of its own', startInThread],
])('the engine %s', (_, startEngine) => {
  test('closes with writes under way, and has each that it acknowledged when it opens again', async () => {
    // Hidden files, which systems leave in any folder, do not count.
    await writeFile(join(dir, '.DS_Store'), '');
    const engine = await startEngine({ dir });
    const client = defineClient(engine.endpoint);
    await createTables(client);
    const acknowledged: string[] = [];
    const writes = Array.from({ length: 80 }, async (_, index) => {
      const Item = { p: { N: String(index) }, q: { N: '1' }, s: { S: 'a' } };
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
      acknowledged.push(String(index));
    });
    await Promise.race(writes);
    // Their connections go before their actions are done.
    client.destroy();
    await engine.close();
    expect(engine.crash?.aborted ?? false).toBe(false);
    await Promise.allSettled(writes);
    expect(acknowledged.length).toBeGreaterThan(0);
    await expect(exactFetch(engine.endpoint)).rejects.toThrow('ECONNREFUSED');

    const again = await startEngine({ dir });
    const reader = defineClient(again.endpoint);
    const { Items = [] } = await reader.send(new ScanCommand({ TableName: 'inventory' }));
    const kept = new Set(Items.map(({ p }) => p?.N));
    expect(acknowledged.filter((petId) => !kept.has(petId))).toEqual([]);
    reader.destroy();
    await again.close();
  });

  test('refuses a folder that is a file, as what its user can put right', async () => {
    const file = join(dir, 'file');
    await writeFile(file, '');
    const refused = startEngine({ dir: file });
    await expect(refused).rejects.toThrow(/^The folder .*file cannot be used: /);
    await expect(refused).rejects.toBeInstanceOf(StartFailure);
  });
});

test('a thread that is disposed of starts no engine any more', async () => {
  const thread = defineEngineThread();
  thread[Symbol.dispose]();
  await expect(thread.startEngine({})).rejects.toThrow('has crashed');
  await expect(thread.startEngine({})).rejects.toThrow('has crashed');
});

describe('a folder', () => {
  test('that another engine has open is refused', async () => {
    const engine = await startEmbeddedEngine({ dir });
    const client = defineClient(engine.endpoint);
    await createTables(client);
    client.destroy();
    await expect(startEmbeddedEngine({ dir })).rejects.toThrow(/cannot be used: .*(using|lock)/);
    await engine.close();
    // It opens its own again and again.
    await (await startEmbeddedEngine({ dir })).close();
    await (await startEmbeddedEngine({ dir })).close();
    expect(await readdir(dir)).toContain('LOG.old');
  });

  test.each(['notes.txt', '000005.log'])('that holds %s is refused, and left', async (name) => {
    await writeFile(join(dir, name), 'mine');
    await expect(startEmbeddedEngine({ dir })).rejects.toThrow(
      `cannot be used: it holds ${name}, `,
    );
    expect(await readdir(dir)).toEqual([name]);
  });
});

describe('an engine in memory', () => {
  let engine: Engine;
  let client: DynamoDBClient;
  beforeAll(async () => {
    engine = await startEmbeddedEngine();
    client = defineClient(engine.endpoint);
    await createTables(client);
  });
  afterAll(async () => {
    client.destroy();
    await engine.close();
  });

  test.each([
    ['', ''],
    [' of a transaction', 'X-Amz-Target: DynamoDB_20120810.TransactWriteItems\r\n'],
  ])('lives on when a client leaves in the middle of a request%s', async (_, target) => {
    const socket = connect(Number(new URL(engine.endpoint).port), '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\n${target}Content-Length: 100`;
    socket.write(`${head}\r\n\r\n{"half":`);
    await setTimeout(50);
    socket.resetAndDestroy();
    await setTimeout(50);
    const { Count } = await client.send(new ScanCommand({ TableName: 'pets' }));
    expect(Count).toBe(0);
  });

  // Each that is left open is held for as long as the store.
  test('closes the iterators of scans and queries that are over, whole or not', async () => {
    const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
    const requireOfLevel = createRequire(requireOfDynalite.resolve('level'));
    const { prototype } = requireOfLevel('abstract-level').AbstractValueIterator;
    const opened = vi.spyOn(prototype, 'next');
    const closed = vi.spyOn(prototype, 'close');
    for (const N of ['1', '2', '3']) {
      const Item = { p: { N }, q: { N: '1' }, s: { S: 'a' } };
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
    }
    const KeyConditionExpression = 'ledger = :l';
    const ExpressionAttributeValues = { ':l': { S: 'orders' } };
    for (const Limit of [2, 9]) {
      await client.send(new ScanCommand({ TableName: 'inventory', Limit }));
      const range = { Limit, KeyConditionExpression, ExpressionAttributeValues };
      await client.send(new QueryCommand({ TableName: 'orders', ...range }));
    }
    expect(new Set(opened.mock.contexts).size).toBe(4);
    expect(new Set(closed.mock.contexts)).toEqual(new Set(opened.mock.contexts));
    vi.restoreAllMocks();
  });

  async function send(method: string, headers: Record<string, string>) {
    const body = method === 'POST' ? { body: '{}' } : {};
    const answer = await exactFetch(`${engine.endpoint}/`, { method, headers, ...body });
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
  const tables = { status: 200, corsHeaders: [], body: expect.stringContaining('"inventory"') };

  test.each(['http://petstore.example', 'null', 'http://localhost:3000'])(
    'gives a web page of the origin %s no CORS headers, and no preflight',
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
    async (Host) => expect(await send('POST', { ...listTables, Host })).toEqual(tables),
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
