import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { InventoryItem } from '../../../shared/contract/schemas/inventory.ts';
import { expectSuccess } from '../expectations.ts';
import { openLocalTarget } from '../localTarget.ts';
import { type ConformanceTarget, send } from '../target.ts';

/** At some 20 bytes an entry, 1 MB (one page of a Scan) holds about 50,000. */
const COUNT = 60_000n;
const firstPetId = 9_223_372_036_854_775_807n - COUNT;

describe('an inventory of several pages', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    const inventory: InventoryItem[] = [];
    for (let index = 0n; index < COUNT; index += 1n) {
      inventory.push({ petId: firstPetId + index, quantity: Number(index), status: 'available' });
    }
    target = await openLocalTarget({ data: { inventory, pets: [], orders: [] } });
  }, 180_000);
  afterAll(() => target?.close());

  test('is listed to the last entry, each once', async () => {
    const response = await send(target, 'GET', '/inventory');
    expectSuccess(response, 'listInventory');
    const quantities = new Map<bigint, number>();
    for (const { petId, quantity } of response.json() as InventoryItem[]) {
      expect(quantities.has(petId)).toBe(false);
      quantities.set(petId, quantity);
    }
    expect(quantities.size).toBe(Number(COUNT));
    for (let index = 0n; index < COUNT; index += 1n) {
      if (quantities.get(firstPetId + index) !== Number(index)) expect.fail(`${index} is missing`);
    }
  }, 30_000);
});
