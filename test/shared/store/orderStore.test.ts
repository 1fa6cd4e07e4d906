import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../../infra/local/engine.ts';
import type { Order } from '../../../shared/contract/order.ts';
import { defineDocuments } from '../../../shared/runtime/documents.ts';
import { defineOrderStore, toOrderRecord } from '../../../shared/store/orderStore.ts';
import { engines } from '../../support/engines.ts';
import { openStoreTables } from '../../support/storeTables.ts';

const base = { petId: 9007199254740993n, quantity: 2, status: 'placed' } as const;

describe.each(engines)('the orders on $name', ({ start }) => {
  let engine: Engine;
  let client: DynamoDBClient;
  let documents: DynamoDBDocumentClient;

  beforeAll(async () => {
    engine = await start();
    client = await openStoreTables(engine);
    documents = defineDocuments(client);
  });

  afterAll(async () => {
    client.destroy();
    await engine.close();
  });

  async function put(order: Order): Promise<void> {
    await documents.send(new PutCommand({ TableName: 'orders', Item: toOrderRecord(order) }));
  }

  it('come newest first, by instant whatever the offset, and by id in one instant', async () => {
    await put({ ...base, id: 1n, placedAt: '2026-11-01T12:00:00Z' });
    await put({ ...base, id: -2n, placedAt: '2026-11-01T13:30:00+02:00' });
    await put({ ...base, id: 30n, placedAt: '2026-11-01T11:45:00.500Z' });
    await put({ ...base, id: 4n, placedAt: '2026-11-01T11:45:00.500Z' });
    const orders = await defineOrderStore(documents, 'orders').list();
    expect(orders.map(({ id }) => id)).toEqual([1n, 30n, 4n, -2n]);
  });

  it('keep optional members, and the time as it was written', async () => {
    const order: Order = {
      ...base,
      id: 9223372036854775807n,
      placedAt: '2027-01-01T00:00:00+01:00',
      shipDate: '2027-01-02T00:00:00Z',
      complete: false,
    };
    await put(order);
    const [newest] = await defineOrderStore(documents, 'orders').list();
    expect(newest).toEqual(order);
  });

  it('are all listed, however many pages they take', async () => {
    const day = Date.parse('2020-01-01T00:00:00Z');
    const filler = 'x'.repeat(300_000);
    for (let id = 1; id <= 5; id++) {
      const record = toOrderRecord({
        ...base,
        id: BigInt(id),
        placedAt: new Date(day + id).toISOString(),
      });
      await documents.send(new PutCommand({ TableName: 'orders', Item: { ...record, filler } }));
    }
    const orders = await defineOrderStore(documents, 'orders').list();
    expect(orders.slice(-5).map(({ id }) => id)).toEqual([5n, 4n, 3n, 2n, 1n]);
    expect(orders[0]).not.toHaveProperty('filler');
  });
});
