import { type AttributeValue, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, describe, expect, it } from 'vitest';
import { mintApiKey } from '../../../shared/keys/apiKey.ts';
import { defineKeyStore } from '../../../shared/keys/keyStore.ts';
import { meterRequest, type RequestUnits } from '../../../shared/runtime/requestUnits.ts';
import { scanPage } from '../../../shared/runtime/sdk/scanPage.ts';
import { defineInventoryList, type InventoryList } from '../../../shared/store/inventoryList.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { engines, firstEngine } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const stock = { p: { N: '7' }, q: { N: '1' }, s: { S: 'a' } };

const { client, endpoint } = useStoreTables(firstEngine.start);
let list: InventoryList;
let updates: ReturnType<typeof defineInventoryUpdates>;

beforeAll(async () => {
  list = defineInventoryList(client(), 'inventory', scanPage);
  updates = defineInventoryUpdates(client(), 'inventory', 'requests');
  await put(stock);
});

/** The request units of `act`. */
async function unitsOf(act: () => Promise<unknown>): Promise<RequestUnits> {
  const units = meterRequest();
  await act().catch(() => {});
  return { ...units };
}

const set = (petId: bigint, versions?: string[], key?: string) =>
  updates.setQuantity({ petId, quantity: 3, versions }, key);
const put = (Item: Record<string, AttributeValue>, ConditionExpression?: string) =>
  client().send(new PutItemCommand({ TableName: 'inventory', Item, ConditionExpression }));

it.each<[string, () => Promise<unknown>, read: number, write: number, failedWrites: number]>([
  ['an update', () => set(7n), 0, 1, 0],
  ['a 412 with its consistent read', () => set(7n, ['x']), 1, 1, 1],
  ['a 404', () => set(8n), 0, 1, 1],
  ['a failed conditional write', () => put(stock, 'attribute_not_exists(p)'), 0, 1, 1],
  // Two writes for each item of a transaction, whether it succeeds or not.
  ['a keyed update', () => set(7n, undefined, 'one'), 0, 4, 0],
  ['its retry', () => set(7n, undefined, 'one'), 0, 4, 1],
  ['a keyed 412', () => set(7n, ['x'], 'two'), 0, 4, 1],
  ['an invalid write', () => put({ p: { S: 'x' } }), 0, 0, 0],
  ['a page of a small list', () => Array.fromAsync(list.pages()), 0.5, 0, 0],
])('the request units of %s are counted', async (_, act, read, write, failedWrites) => {
  expect(await unitsOf(act)).toEqual({ read, write, failedWrites });
});

describe.each(engines)('on $name', ({ start }) => {
  const tables = useStoreTables(start);

  it('a key lookup takes one unit, whether the key exists or not', async () => {
    const { keyId, secretHash } = mintApiKey();
    const Item = { keyId: { S: keyId }, secretHash: { S: secretHash } };
    await tables.client().send(new PutItemCommand({ TableName: 'apiKeys', Item }));
    const store = defineKeyStore(tables.client(), 'apiKeys');
    for (const id of [keyId, '0123456789']) {
      expect(await unitsOf(() => store.get(id))).toMatchObject({ read: 1, write: 0 });
    }
  });
});

it('a transaction that is in progress at every retry is an outage', async () => {
  endpoint().fail({ action: 'TransactWriteItems', fault: 'transactionInProgress' });
  await expect(set(7n, undefined, 'two')).rejects.toMatchObject({ name: 'StoreUnavailable' });
});
