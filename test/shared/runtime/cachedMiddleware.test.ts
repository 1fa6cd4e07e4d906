import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { openLocalTarget } from '../../conformance/localTarget.ts';
import { sendValid } from '../../conformance/operations/suites.ts';
import { type ConformanceTarget, send } from '../../conformance/target.ts';

interface Sent {
  readonly command: string;
  readonly isCached: boolean;
  /** The middleware that the command brought, and all that the client had. */
  readonly own: readonly string[];
  readonly client: DynamoDBClient;
  readonly shared: readonly string[];
}

const sent: Sent[] = [];
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

it('is remembered for keys, lookups, pages and updates', () => {
  const cached = sent.filter(({ isCached }) => isCached).map(({ command }) => command);
  expect([...new Set(cached)].sort()).toEqual([
    'BatchGetItemCommand',
    'GetItemCommand',
    'ScanCommand',
    'TransactWriteItemsCommand',
    'UpdateItemCommand',
  ]);
});

it('is never given to a command of a client that remembers it: only the next one would see it', () => {
  const withOwn = sent.filter(({ own }) => own.length > 0);
  expect(withOwn.map(({ command }) => command)).toContain('ScanCommand');
  expect(withOwn.filter(({ isCached }) => isCached)).toEqual([]);
});

it('is never given to such a client once it has sent something', () => {
  const first = new Map<DynamoDBClient, readonly string[]>();
  for (const { client, isCached, shared } of sent) {
    if (!isCached) continue;
    if (!first.has(client)) first.set(client, shared);
    expect(shared).toEqual(first.get(client));
  }
  expect(first.size).toBe(operationIds.length);
});
