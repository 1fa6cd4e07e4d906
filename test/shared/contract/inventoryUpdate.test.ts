import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InventoryUpdate } from '../../../shared/contract/inventoryUpdate.ts';

describe('InventoryUpdate', () => {
  it('accepts every quantity from 0 to 2147483647 and drops other members', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_147_483_647 }), fc.jsonValue(), (quantity, other) => {
        expect(z.parse(InventoryUpdate, { quantity, other })).toEqual({ quantity });
      }),
    );
  });

  it('refuses every other number', () => {
    const wrong = fc.oneof(
      fc.integer({ max: -1 }),
      fc.double({ noInteger: true }),
      fc.integer({ min: 2_147_483_648, max: Number.MAX_SAFE_INTEGER }),
      fc.constantFrom(Number.POSITIVE_INFINITY, Number.NaN, 2 ** 53),
    );
    fc.assert(
      fc.property(wrong, (quantity) => !z.safeParse(InventoryUpdate, { quantity }).success),
    );
  });

  it('refuses every value that is no number', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (quantity) => {
        fc.pre(typeof quantity !== 'number');
        expect(z.safeParse(InventoryUpdate, { quantity }).success).toBe(false);
      }),
    );
  });

  it.each([
    [null, 'must be a JSON object with a quantity, such as {"quantity": 5}'],
    [[5], 'must be a JSON object with a quantity, such as {"quantity": 5}'],
    [{}, 'must be an integer from 0 to 2147483647'],
    [{ quantity: -1 }, 'must be an integer from 0 to 2147483647'],
  ])('says of %j what would be right', (value, message) => {
    const result = z.safeParse(InventoryUpdate, value);
    expect(result.error?.issues.map((issue) => issue.message)).toEqual([message]);
  });
});
