import { mkdtempSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import {
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { defineEmulatorClient } from '../../../../infra/cli/tableOption.ts';
import { type Engine, startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { createTables } from '../../../../infra/local/localTables.ts';
import { exactFetch } from '../../../support/exactFetch.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';

const { toPath } = openTemporaryFolder();
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(toPath('engine-'));
});

const defineClient = (endpoint: string) => defineEmulatorClient(endpoint, { maxAttempts: 1 });

describe('the engine', () => {
  test('closes during writes, and after a restart has each acknowledged one', async () => {
    // Hidden files, which systems leave in any folder, are ignored.
    await writeFile(join(dir, '.DS_Store'), '');
    const engine = await startEmbeddedEngine({ dir });
    const client = defineClient(engine.endpoint);
    await createTables(client);
    const acknowledged: string[] = [];
    const writes = Array.from({ length: 80 }, async (_, index) => {
      const N = String(index);
      await client.send(new PutItemCommand({ TableName: 'inventory', Item: { p: { N } } }));
      acknowledged.push(N);
    });
    await Promise.race(writes);
    // The connections close before the actions are done.
    client.destroy();
    await engine.close();
    await Promise.allSettled(writes);
    await expect(exactFetch(engine.endpoint)).rejects.toThrow('ECONNREFUSED');

    const again = await startEmbeddedEngine({ dir });
    const reader = defineClient(again.endpoint);
    const { Items = [] } = await reader.send(new ScanCommand({ TableName: 'inventory' }));
    expect(Items.map(({ p }) => p?.N)).toEqual(expect.arrayContaining(acknowledged));
    reader.destroy();
    await again.close();
  });

  test('refuses a file as its folder', async () => {
    const file = join(dir, 'file');
    await writeFile(file, '');
    const refused = startEmbeddedEngine({ dir: file });
    await expect(refused).rejects.toThrow(/^The folder .*file cannot be used: /);
  });
});

test.each(['notes.txt', '000005.log'])(
  'a folder with %s is refused, and left unchanged',
  async (name) => {
    await writeFile(join(dir, name), 'mine');
    await expect(startEmbeddedEngine({ dir })).rejects.toThrow(`used: it contains ${name}; `);
    expect(await readdir(dir)).toEqual([name]);
  },
);

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
  ])('survives a client that leaves in the middle of a request%s', async (_, target) => {
    const socket = connect(Number(new URL(engine.endpoint).port), '127.0.0.1');
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\n${target}Content-Length: 100`;
    socket.write(`${head}\r\n\r\n{"half":`);
    await setTimeout(50);
    socket.resetAndDestroy();
    await setTimeout(50);
    const { Count } = await client.send(new ScanCommand({ TableName: 'pets' }));
    expect(Count).toBe(0);
  });

  // An open iterator stays in memory as long as the store.
  test('closes the iterators of finished scans and queries', async () => {
    const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
    const requireOfLevel = createRequire(requireOfDynalite.resolve('level'));
    const { prototype } = requireOfLevel('abstract-level').AbstractValueIterator;
    const opened = vi.spyOn(prototype, 'next');
    const closed = vi.spyOn(prototype, 'close');
    const Item = { p: { N: '1' }, q: { N: '1' }, s: { S: 'a' } };
    await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
    await client.send(new ScanCommand({ TableName: 'inventory' }));
    const KeyConditionExpression = 'ledger = :l';
    const ExpressionAttributeValues = { ':l': { S: 'orders' } };
    const range = { KeyConditionExpression, ExpressionAttributeValues };
    await client.send(new QueryCommand({ TableName: 'orders', ...range }));
    expect(new Set(opened.mock.contexts).size).toBe(2);
    expect(new Set(closed.mock.contexts)).toEqual(new Set(opened.mock.contexts));
    vi.restoreAllMocks();
  });

  const tables = { status: 200, text: expect.stringContaining('"inventory"') };
  const unknown = { status: 400, text: expect.stringContaining('UnknownOperation') };
  const Origin = 'http://petstore.example';
  const text = 'The Host header must name 127.0.0.1, localhost or [::1].\n';
  const refused = { status: 403, text };

  // A foreign name or a web page may point here to read the tables.
  test.each<[string, Record<string, string>, object]>([
    ['POST', { Origin }, tables],
    ['OPTIONS', { Origin, 'Access-Control-Request-Method': 'POST' }, unknown],
    ['POST', { Host: '[::1]:8000' }, tables],
    ['POST', { Host: 'petstore.example' }, refused],
    ['OPTIONS', { Host: 'localhost.petstore.example' }, refused],
    ['POST', { Host: '127.0.0.1:8000.petstore.example' }, refused],
  ])('returns %s with %j, without CORS headers', async (method, headers, expected) => {
    const signed = {
      'Content-Type': 'application/x-amz-json-1.0',
      'X-Amz-Target': 'DynamoDB_20120810.ListTables',
      'X-Amz-Date': '20300101T000000Z',
      Authorization: 'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c',
    };
    const sent =
      method === 'POST' ? { body: '{}', headers: { ...signed, ...headers } } : { headers };
    const response = await exactFetch(`${engine.endpoint}/`, { method, ...sent });
    expect(response).toMatchObject(expected);
    expect([...response.headers.keys()].join()).not.toContain('access-control-');
  });
});
