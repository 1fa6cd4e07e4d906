import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InventoryItem } from '../../../shared/contract/schemas/inventory.ts';
import { expectSuccess } from '../expectations.ts';
import { openLocalTarget } from '../localTarget.ts';
import { type ConformanceTarget, send } from '../target.ts';

/** At some 21 bytes an entry with numbers this long, 1 MB (one page of a Scan) holds some 49,000. */
const COUNT = 51_000n;
const firstPetId = 9_223_372_036_854_775_807n - COUNT;
const firstQuantity = 2_147_400_000;

describe('an inventory of several pages', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    const inventory: InventoryItem[] = [];
    for (let index = 0n; index < COUNT; index += 1n) {
      const quantity = firstQuantity + Number(index);
      inventory.push({ petId: firstPetId + index, quantity, status: 'available' });
    }
    target = await openLocalTarget({ data: { inventory, pets: [], orders: [] } });
  }, 180_000);
  afterAll(() => target?.close());

  test('is listed to the last entry, each once', async () => {
    const response = await send(target, 'GET', '/inventory');
    expectSuccess(response, 'listInventory');
    const quantities = new Map<bigint, number>();
    for (const { petId, quantity } of response.json() as InventoryItem[]) {
      if (quantities.has(petId)) expect.fail(`${petId} is there twice`);
      quantities.set(petId, quantity);
    }
    expect(quantities.size).toBe(Number(COUNT));
    for (let index = 0n; index < COUNT; index += 1n) {
      const quantity = firstQuantity + Number(index);
      if (quantities.get(firstPetId + index) !== quantity) expect.fail(`${index} is missing`);
    }
  }, 30_000);
});
