import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Engine } from '../../../infra/local/engine/engine.ts';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { meterRequest, type RequestUnits } from '../../../shared/runtime/requestUnits.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { engines, firstEngine } from '../../support/engines.ts';
import { type FaultyEndpoint, startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import { openStoreTables, useStoreTables } from '../../support/storeTables.ts';

const stock = { p: { N: '7' }, q: { N: '1' }, s: { S: 'a' } };

let engine: Engine;
let endpoint: FaultyEndpoint;
let client: DynamoDBClient;
let list: InventoryList;
let updates: ReturnType<typeof defineInventoryUpdates>;

beforeAll(async () => {
  engine = await firstEngine.start();
  endpoint = await startFaultyEndpoint(engine.endpoint);
  client = await openStoreTables(endpoint);
  list = defineInventoryList(client, 'inventory');
  updates = defineInventoryUpdates(client, 'inventory', 'requests');
  await client.send(new PutItemCommand({ TableName: 'inventory', Item: stock }));
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
      failedWrites: 0,
    });
  });

  it('are, of a write whose condition fails, its unit too, and a consistent read for 404 or 412', async () => {
    const versions = ['nonsense'];
    expect(await unitsOf(() => updates.setQuantity({ petId: 7n, quantity: 3, versions }))).toEqual({
      read: 1,
      write: 1,
      failedWrites: 1,
    });
    expect(await unitsOf(() => updates.setQuantity({ petId: 8n, quantity: 3 }))).toEqual({
      read: 0,
      write: 1,
      failedWrites: 1,
    });
    const ConditionExpression = 'attribute_not_exists(p)';
    const put = new PutItemCommand({ TableName: 'inventory', Item: stock, ConditionExpression });
    expect(await unitsOf(() => client.send(put))).toMatchObject({ write: 1, failedWrites: 1 });
  });

  it('are two writes for each item of a transaction, whether it succeeds or not, and half a read', async () => {
    const keyed = (versions?: string[]) =>
      unitsOf(() => updates.setQuantity({ petId: 7n, quantity: 3, versions }, 'one'));
    expect(await keyed()).toEqual({ read: 0.5, write: 4, failedWrites: 0 });
    expect(await keyed()).toEqual({ read: 0.5, write: 4, failedWrites: 1 });
    expect(await keyed(['nonsense'])).toEqual({ read: 0.5, write: 4, failedWrites: 1 });
  });

  it('are none of a write that the engine refuses for what it asks', async () => {
    const put = new PutItemCommand({ TableName: 'inventory', Item: { p: { S: 'seven' } } });
    expect(await unitsOf(() => client.send(put))).toEqual({ read: 0, write: 0, failedWrites: 0 });
  });

  it('are half a unit for a page of a small list', async () => {
    expect(await unitsOf(() => Array.fromAsync(list.pages()))).toMatchObject({ read: 0.5 });
  });
});

describe.each(engines)('a key’s lookup, as $name counts it', ({ start }) => {
  const tables = useStoreTables(start);

  it('is one unit, whether there is such a key or not', async () => {
    const store = defineKeyStore(tables.client(), 'apiKeys');
    const { keyId, secretHash } = mintApiKey();
    const Item = { keyId: { S: keyId }, secretHash: { S: secretHash }, name: { S: 'shop' } };
    await tables.client().send(new PutItemCommand({ TableName: 'apiKeys', Item }));
    expect(await unitsOf(() => store.get(keyId))).toMatchObject({ read: 1, write: 0 });
    expect(await unitsOf(() => store.get('0123456789'))).toMatchObject({ read: 1, write: 0 });
  });
});

it('a transaction that is still at work through every retry is an outage', async () => {
  endpoint.fail({ action: 'TransactWriteItems', fault: 'transactionInProgress' });
  const updating = updates.setQuantity({ petId: 7n, quantity: 3 }, 'two');
  await expect(updating).rejects.toMatchObject({ name: 'StoreUnavailable' });
});

describe('a read that must not be stale', () => {
  it('is that of a key, so that a revocation counts from the moment it is written', async () => {
    await defineKeyStore(client, 'apiKeys').get('0123456789');
    expect(endpoint.requests).toMatchObject([
      { action: 'GetItem', input: { TableName: 'apiKeys', ConsistentRead: true } },
    ]);
  });

  it('is that which tells 404 from 412 after a condition failed', async () => {
    await updates.setQuantity({ petId: 7n, quantity: 3, versions: ['nonsense'] }).catch(() => {});
    expect(endpoint.requests).toMatchObject([
      { action: 'UpdateItem' },
      { action: 'GetItem', input: { TableName: 'inventory', ConsistentRead: true } },
    ]);
  });
});
