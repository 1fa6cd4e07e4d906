import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { defineDynamoDB } from '../../../shared/runtime/dynamodb.ts';
import { meterRequest } from '../../../shared/runtime/requestUnits.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { firstEngine } from '../../support/engines.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { openStoreTables, useStoreTables } from '../../support/storeTables.ts';

describe('entries by id', () => {
  const tables = useStoreTables(firstEngine.start);
  let endpoint: FaultyEndpoint;
  let list: InventoryList;

  beforeAll(async () => {
    endpoint = await startFaultyEndpoint(tables.engine().endpoint);
    const client = await openStoreTables(endpoint);
    list = defineInventoryList(client, 'inventory');
    for (const [petId, v] of [
      ['1', undefined],
      ['2', { B: Buffer.from([0, 0, 0, 0, 1]) }],
      ['9007199254740993', { B: Buffer.from([254, 1, 2, 3, 4]) }],
    ] as const) {
      const Item = { p: { N: petId }, q: { N: '25' }, s: { S: 'a' }, ...(v && { v }) };
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
    }
    endpoint.heal();
  });
  afterEach(() => endpoint.heal());
  afterAll(() => endpoint.close());

  const unitsOf = async (act: () => Promise<unknown>) => {
    const units = meterRequest();
    await act();
    return { read: units.read, write: units.write };
  };

  it('are read by key, half a unit each, and one each as of this moment with tags', async () => {
    expect(await unitsOf(() => list.find([1n]))).toEqual({ read: 0.5, write: 0 });
    expect(await unitsOf(() => list.find([1n, 2n]))).toEqual({ read: 1, write: 0 });
    expect(await unitsOf(() => list.find([1n], { withTags: true }))).toEqual({ read: 1, write: 0 });
    expect(await unitsOf(() => list.find([1n, 2n], { withTags: true }))).toEqual({
      read: 2,
      write: 0,
    });
    expect([...endpoint.calls.keys()].sort()).toEqual(['BatchGetItem', 'GetItem']);
  });

  it('come in the order that was asked for, each with its tag', async () => {
    const found = await list.find([9007199254740993n, 404n, 2n, 1n], { withTags: true });
    expect(found).toEqual([
      { petId: 9007199254740993n, quantity: 25, status: 'available', etag: '"_gECAwQ"' },
      { petId: 2n, quantity: 25, status: 'available', etag: '"AAAAAAE"' },
      { petId: 1n, quantity: 25, status: 'available', etag: '"AAAAGQBh"' },
    ]);
  });

  it('have the tags in a whole list and in a page that they have by id', async () => {
    const byId = await list.find([1n, 2n, 9007199254740993n], { withTags: true });
    const pages = await Array.fromAsync(list.pages({ withTags: true }));
    const whole = pages.map(({ items }) => String(items)).join();
    for (const { etag } of byId as { etag: string }[]) {
      expect(whole).toContain(`"etag":${JSON.stringify(etag)}}`);
    }
    const page = await list.page({ limit: 10, withTags: true });
    expect(page.items).toEqual(expect.arrayContaining(byId));
  });

  it('can be of one status, and are none where none exists', async () => {
    expect(await list.find([1n, 2n], { status: 'sold' })).toEqual([]);
    expect(await list.find([404n])).toEqual([]);
    expect(await list.find([404n, 405n])).toEqual([]);
  });
});

describe('keys that a batch leaves unprocessed', () => {
  let leaves: (asked: number) => number;
  const batches: number[] = [];
  const server = createServer(async (request, response) => {
    const { RequestItems } = JSON.parse(await text(request));
    const { Keys, ...rest } = RequestItems.t;
    batches.push(Keys.length);
    const processed = Keys.length - leaves(Keys.length);
    response.setHeader('Content-Type', 'application/x-amz-json-1.0');
    const records = Keys.slice(0, processed).map((key: object) => ({
      ...key,
      q: { N: '1' },
      s: { S: 'a' },
    }));
    const left = Keys.slice(processed);
    const UnprocessedKeys = left.length > 0 ? { t: { Keys: left, ...rest } } : {};
    response.end(JSON.stringify({ Responses: { t: records }, UnprocessedKeys }));
  });
  let client: DynamoDBClient;

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://127.0.0.1:${port}`);
    client = defineDynamoDB();
  });
  afterEach(() => batches.splice(0));
  afterAll(() => {
    vi.unstubAllEnvs();
    client.destroy();
    server.closeAllConnections();
    server.close();
  });

  const petIds = Array.from({ length: 100 }, (_, index) => BigInt(index));

  it('are asked for again, and nothing else', async () => {
    leaves = (asked) => (asked > 30 ? 30 : 0);
    const found = await defineInventoryList(client, 't').find(petIds);
    expect(found.map(({ petId }) => petId)).toEqual(petIds);
    expect(batches).toEqual([100, 30]);
  });

  it('make it an outage when that goes on', async () => {
    leaves = () => 1;
    await expect(defineInventoryList(client, 't').find(petIds)).rejects.toMatchObject({
      name: 'StoreUnavailable',
    });
    expect(batches).toEqual([100, 1, 1, 1, 1]);
  });
});
