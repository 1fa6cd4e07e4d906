import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InventoryItem } from '../../../shared/contract/schemas.ts';
import { readVariable } from '../../../shared/runtime/environment.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { expectSuccess } from '../expectations.ts';
import { type FaultyTarget, openFaultyStage } from '../faults/faultyTarget.ts';
import { send } from '../target.ts';

const COUNT = 1_000;
const inventory = Array.from({ length: COUNT }, (_, index): InventoryItem => {
  const petId = 9_223_372_036_854_775_807n - BigInt(index);
  return { petId, quantity: 2_147_400_000 + index, status: 'available' };
});

/** An entry has some 21 bytes, and a page of a Scan 1 MB: one in a hundred gets 300 KB that are not ours. */
async function addBulk(): Promise<void> {
  const client = new DynamoDBClient();
  const TableName = readVariable('INVENTORY_TABLE');
  const bulk = { S: 'x'.repeat(300_000) };
  for (let index = 0; index < COUNT; index += 100) {
    const Item = { ...toInventoryRecord(inventory[index] as InventoryItem), bulk };
    await client.send(new PutItemCommand({ TableName, Item }));
  }
  client.destroy();
}

describe('an inventory of several pages', () => {
  let target: FaultyTarget;
  beforeAll(async () => {
    target = await openFaultyStage({ inventory, pets: [], orders: [] });
    await addBulk();
  });
  afterAll(() => target?.close());

  test('is listed to the last entry, each once', async () => {
    const response = await send(target, 'GET', '/inventory');
    expectSuccess(response, 'listInventory');
    expect(target.store.calls.get('Scan')).toBeGreaterThan(2);
    const byPetId = (one: InventoryItem, other: InventoryItem) =>
      one.petId < other.petId ? 1 : -1;
    expect((response.json() as InventoryItem[]).sort(byPetId)).toEqual(inventory);
  });
});
