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
const noon = '2026-11-01T12:00:00+02:00';
const order = {
  id: 1,
  petId: 2,
  quantity: 1,
  status: 'placed',
  placedAt: noon,
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
    ['Order', Order, { id: 1, petId: 2, quantity: 1, status: 'approved', placedAt: noon }],
    ['Order', Order, { ...order, status: 'delivered', complete: false }],
    ['ErrorBody', ErrorBody, { code: 'not_found', message: 'x', status: 404 }],
  ])('%s takes what is right', (_, schema, document) => {
    expect(toProblems(schema, document)).toEqual([]);
    expect(Object.keys(schema.safeParse(document).data as object)).toEqual(Object.keys(document));
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

it.each([
  [null, 'must be a JSON object with a quantity, such as {"quantity": 5}'],
  [[5], 'must be a JSON object with a quantity, such as {"quantity": 5}'],
  [{}, 'must be an integer from 0 to 2147483647'],
  [{ quantity: -1 }, 'must be an integer from 0 to 2147483647'],
])('an update that is %j says what would be right', (value, message) => {
  const result = z.safeParse(InventoryUpdate, value);
  expect(result.error?.issues.map((issue) => issue.message)).toEqual([message]);
});
