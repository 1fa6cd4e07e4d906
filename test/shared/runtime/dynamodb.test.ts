import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Engine, startEmbeddedEngine } from '../../../infra/local/engine.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { meterRequest, type RequestUnits } from '../../../shared/runtime/requestUnits.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import {
  defineInventoryUpdates,
  type InventoryUpdates,
} from '../../../shared/store/inventoryUpdates.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faultyEndpoint.ts';
import { openStoreTables } from '../../support/storeTables.ts';

let engine: Engine;
let endpoint: FaultyEndpoint;
let client: DynamoDBClient;
let list: InventoryList;
let updates: InventoryUpdates;

beforeAll(async () => {
  engine = await startEmbeddedEngine();
  endpoint = await startFaultyEndpoint(engine.endpoint);
  client = await openStoreTables(endpoint);
  list = defineInventoryList(client, 'inventory');
  updates = defineInventoryUpdates(client, 'inventory', 'requests');
  const Item = { p: { N: '7' }, q: { N: '1' }, s: { S: 'a' } };
  await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
});

beforeEach(() => endpoint.heal());

afterAll(async () => {
  client.destroy();
  await endpoint.close();
  await engine.close();
});

/** What `act` consumes. */
async function unitsOf(act: () => Promise<unknown>): Promise<RequestUnits> {
  const units = meterRequest();
  await act().catch(() => {});
  return { ...units };
}

describe('the request units of a request', () => {
  it('are one write for an update, and no read', async () => {
    expect(await unitsOf(() => updates.setQuantity({ petId: 7n, quantity: 2 }))).toEqual({
      read: 0,
      write: 1,
    });
  });

  it('are a consistent read for telling 404 from 412, one unit', async () => {
    expect(
      await unitsOf(() => updates.setQuantity({ petId: 7n, quantity: 3, versions: ['9.9.a'] })),
    ).toEqual({
      read: 1,
      write: 0,
    });
  });

  it('are half a unit for a page of a small list, and one for a key', async () => {
    expect(await unitsOf(() => Array.fromAsync(list.pages()))).toEqual({
      read: 0.5,
      write: 0,
    });
    const keys = defineKeyStore(client, 'apiKeys');
    expect(await unitsOf(() => keys.get('0123456789'))).toEqual({ read: 1, write: 0 });
  });
});

describe('a read that must not be stale', () => {
  it('is that of a key, so that a revocation counts from the moment it is written', async () => {
    await defineKeyStore(client, 'apiKeys').get('0123456789');
    expect(endpoint.requests).toMatchObject([
      { action: 'GetItem', input: { TableName: 'apiKeys', ConsistentRead: true } },
    ]);
  });

  it('is that which tells 404 from 412 after a condition failed', async () => {
    await updates.setQuantity({ petId: 7n, quantity: 3, versions: ['9.9.a'] }).catch(() => {});
    expect(endpoint.requests).toMatchObject([
      { action: 'UpdateItem' },
      { action: 'GetItem', input: { TableName: 'inventory', ConsistentRead: true } },
    ]);
  });

  it('is that of an answer that was given before, which a repeat may follow at once', async () => {
    await updates.setQuantity({ petId: 7n, quantity: 3 }, 'a key');
    expect(endpoint.requests).toMatchObject([
      { action: 'Query', input: { TableName: 'requests', ConsistentRead: true } },
      { action: 'UpdateItem' },
      { action: 'PutItem', input: { TableName: 'requests' } },
    ]);
  });
});
