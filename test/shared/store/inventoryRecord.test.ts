import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InventoryItem } from '../../../shared/contract/schemas/inventory.ts';
import { parseJson } from '../../../shared/contract/values/json.ts';
import {
  parseVersion,
  toInventoryItem,
  toInventoryJson,
  toInventoryRecord,
  toVersion,
} from '../../../shared/store/inventoryRecord.ts';

const anyItem = fc.record({
  petId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  quantity: fc.integer({ min: 0, max: 2_147_483_647 }),
  status: fc.constantFrom('available', 'pending', 'sold'),
});

describe('an inventory record', () => {
  it('gives back the entry that it was made of, as a value and as JSON', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const record = toInventoryRecord(item);
        expect(toInventoryItem(record)).toEqual(item);
        expect(z.parse(InventoryItem, parseJson(toInventoryJson(record)))).toEqual(item);
      }),
    );
  });

  it('takes 11 bytes for a pet id of six digits', () => {
    const record = toInventoryRecord({ petId: 123_456n, quantity: 9_999, status: 'available' });
    expect(toBytes(record)).toBe(11);
  });

  it('is refused when its status is not one of the three letters', () => {
    const record = { p: { N: '1' }, q: { N: '1' }, s: { S: 'x' } };
    expect(() => toInventoryItem(record)).toThrow('unknown status "x"');
  });
});

describe('a version', () => {
  it('names the state that it was made of', () => {
    fc.assert(
      fc.property(anyItem, fc.integer({ min: 0, max: 999_999_999 }), (item, updates) => {
        const { p, ...state } = {
          ...toInventoryRecord(item),
          ...(updates > 0 && { v: { N: String(updates) } }),
        };
        expect(parseVersion(toVersion({ p, ...state }))).toEqual(state);
      }),
    );
  });

  it('is told from any other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^\d+\.\d+\.[aps]$/.test(text));
        expect(parseVersion(text)).toBeUndefined();
      }),
    );
  });
});

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html */
function toBytes(record: Record<string, AttributeValue>): number {
  return Object.entries(record)
    .map(([name, { N, S }]) => name.length + (S?.length ?? Math.ceil((N ?? '').length / 2) + 1))
    .reduce((sum, bytes) => sum + bytes, 0);
}
