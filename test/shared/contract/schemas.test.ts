import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { InventoryUpdate } from '../../../shared/contract/inventoryUpdate.ts';
import { ErrorBody, InventoryItem, Order, Pet } from '../../../shared/contract/schemas.ts';

const item = { petId: 1, quantity: 0, status: 'sold' };
const pet = {
  id: 1,
  name: 'Rex',
  status: 'available',
  category: { id: 2, name: 'Dogs' },
  photoUrls: ['https://images.petstore.example/1.jpg'],
  tags: [{ id: 3, name: 'calm' }],
};
const order = {
  id: 1,
  petId: 2,
  quantity: 1,
  status: 'placed',
  placedAt: '2026-11-01T09:30:00+02:00',
  shipDate: '2026-11-02T09:30:00Z',
  complete: true,
};

/** What is wrong with a document, each with its place. */
function toProblems(schema: z.ZodMiniType, document: unknown): string[] {
  const { error } = schema.safeParse(document);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);
}

const int64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const status = 'must be "available", "pending" or "sold"';
const orderStatus = 'must be "placed", "approved" or "delivered"';
const dateTime = 'must be an RFC 3339 date-time, such as "2026-11-01T09:30:00Z"';

describe('a schema', () => {
  it.each([
    ['InventoryItem', InventoryItem, item],
    ['Pet', Pet, pet],
    ['Pet', Pet, { id: 1, name: '', status: 'sold' }],
    ['Order', Order, order],
    ['Order', Order, { ...order, status: 'approved', shipDate: undefined } as never],
    ['Order', Order, { ...order, status: 'delivered', complete: false }],
    ['ErrorBody', ErrorBody, { code: 'not_found', message: 'x', status: 404 }],
  ])('%s takes what is right', (_, schema, document) => {
    const { shipDate, ...rest } = document as { shipDate?: string };
    const given = shipDate === undefined ? rest : document;
    expect(toProblems(schema, given)).toEqual([]);
    expect(Object.keys(schema.safeParse(given).data as object)).toEqual(Object.keys(given));
  });

  it.each([
    [InventoryItem, { ...item, petId: 'x' }, `petId ${int64}`],
    [InventoryItem, { ...item, petId: 1.5 }, `petId ${int64}`],
    [InventoryItem, { ...item, quantity: -1 }, 'quantity must be an integer from 0 to 2147483647'],
    [
      InventoryItem,
      { ...item, quantity: 2 ** 31 },
      'quantity must be an integer from 0 to 2147483647',
    ],
    [InventoryItem, { ...item, status: 'lost' }, `status ${status}`],
    [Pet, { ...pet, name: 5 }, 'name must be a string'],
    [Pet, { ...pet, status: 'placed' }, `status ${status}`],
    [Pet, { ...pet, photoUrls: ['not a URI'] }, 'photoUrls.0 must be a URI'],
    [Pet, { ...pet, category: { id: 'x', name: 'Dogs' } }, `category.id ${int64}`],
    [Pet, { ...pet, tags: [{ id: 3, name: null }] }, 'tags.0.name must be a string'],
    [Order, { ...order, quantity: 0 }, 'quantity must be an integer from 1 to 2147483647'],
    [Order, { ...order, status: 'sold' }, `status ${orderStatus}`],
    [Order, { ...order, placedAt: 'yesterday' }, `placedAt ${dateTime}`],
    [Order, { ...order, shipDate: '2026-11-02' }, `shipDate ${dateTime}`],
    [Order, { ...order, complete: 'yes' }, 'complete must be true or false'],
  ])('says what is wrong: %#', (schema, document, problem) => {
    expect(toProblems(schema, document)).toEqual([problem]);
  });

  it.each([
    { code: 'unknown', message: 'x', status: 404 },
    { code: 'not_found', message: 1, status: 404 },
    { code: 'not_found', message: 'x', status: 'x' },
  ])('of an error refuses %j', (document) => {
    expect(toProblems(ErrorBody, document)).toHaveLength(1);
  });
});

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
