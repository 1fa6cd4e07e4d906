import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { readVersion } from '../../../shared/store/inventoryRecord.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { startFaultyEndpoint } from '../../support/faults/faultyEndpoint.ts';
import type { StoreTables } from '../../support/storeTables.ts';

/** Milliseconds between two attempts, in which others may come. */
const BACK_OFF = 50;

let latest = 0n;

/** A test's own entry with a stock of 25, and its own way to the tables, which can fail. */
export type UpdatedEntry = Awaited<ReturnType<typeof openEntry>>;

export async function openEntry(tables: StoreTables) {
  latest += 1n;
  const petId = latest;
  const endpoint = await startFaultyEndpoint(tables.engine().endpoint);
  const client = new DynamoDBClient({
    endpoint: endpoint.endpoint,
    // As in the function.
    cacheMiddleware: true,
    retryStrategy: new ConfiguredRetryStrategy(3, BACK_OFF),
  });
  const updates = defineInventoryUpdates(client, 'inventory');
  /** Other clients' updates, without faults. */
  const others = defineInventoryUpdates(tables.client(), 'inventory');

  async function put(more: object): Promise<void> {
    const Item = { p: { N: `${petId}` }, q: { N: '25' }, s: { S: 'p' }, ...more };
    await tables.client().send(new PutItemCommand({ TableName: 'inventory', Item }));
  }

  async function read() {
    const key = { TableName: 'inventory', Key: { p: { N: `${petId}` } }, ConsistentRead: true };
    const { Item = {} } = await tables.client().send(new GetItemCommand(key));
    return { quantity: Number(Item.q?.N), version: readVersion(Item), v: Item.v };
  }

  const set = (quantity: number, versions?: readonly string[], by = updates) =>
    by.setQuantity({ petId, quantity, versions });

  async function remove(): Promise<void> {
    const Key = { p: { N: `${petId}` } };
    await tables.client().send(new DeleteItemCommand({ TableName: 'inventory', Key }));
  }

  async function close(): Promise<void> {
    client.destroy();
    await endpoint.close();
  }

  await put({});
  return { petId, endpoint, updates, others, put, read, set, remove, close };
}
