import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { openLocalTarget } from '../../conformance/localTarget.ts';
import { sendValid } from '../../conformance/operations/suites.ts';
import { type ConformanceTarget, send } from '../../conformance/target.ts';

/** Each sent command: whether its client caches middleware, its own middleware, and the client's. */
const sent: {
  command: string;
  isCached: boolean;
  own: readonly string[];
  client: DynamoDBClient;
  shared: readonly string[];
}[] = [];
let target: ConformanceTarget;

beforeAll(async () => {
  const { send: sendCommand } = DynamoDBClient.prototype;
  target = await openLocalTarget();
  vi.spyOn(DynamoDBClient.prototype, 'send').mockImplementation(function (
    this: DynamoDBClient,
    ...args: never[]
  ) {
    const [command] = args as unknown as [{ middlewareStack: { identify(): string[] } }];
    sent.push({
      command: command.constructor.name,
      isCached: this.config.cacheMiddleware === true,
      own: command.middlewareStack.identify(),
      client: this,
      shared: this.middlewareStack.identify(),
    });
    return sendCommand.apply(this, args as never);
  } as never);
  for (const id of operationIds) await sendValid(target, id);
  for (const path of ['?limit=1', '?petId=1', '?petId=1,2', '?include=etag']) {
    await send(target, 'GET', `/inventory${path}`);
  }
  const headers = { 'Idempotency-Key': 'once' };
  await sendValid(target, 'updateInventory', { headers });
  await sendValid(target, 'updateInventory', { headers });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await target?.close();
});

it('clients cache middleware for keys, lookups, pages and updates, so neither they nor their commands get more later', () => {
  const cached = sent.filter(({ isCached }) => isCached);
  expect([...new Set(cached.map(({ command }) => command))].sort()).toEqual([
    'BatchGetItemCommand',
    'GetItemCommand',
    'ScanCommand',
    'TransactWriteItemsCommand',
    'UpdateItemCommand',
  ]);
  expect(sent.some(({ own }) => own.length > 0)).toBe(true);
  expect(cached.filter(({ own }) => own.length > 0)).toEqual([]);
  const first = new Map<DynamoDBClient, readonly string[]>();
  for (const { client, shared } of cached) {
    if (!first.has(client)) first.set(client, shared);
    expect(shared).toEqual(first.get(client));
  }
  expect(first.size).toBe(operationIds.length);
});
