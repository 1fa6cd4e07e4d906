import fc from 'fast-check';
import { expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod/mini';
import type * as client from '../../../shared/client/index.ts';
import type { ErrorCode } from '../../../shared/contract/errorBody.ts';
import { type InventoryAdjustment, int64 } from '../../../shared/contract/inventoryAdjustment.ts';
import type { InventoryUpdate } from '../../../shared/contract/inventoryUpdate.ts';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import {
  ErrorBody,
  InventoryItem,
  Order,
  Pet,
  type PetStatus,
} from '../../../shared/contract/schemas.ts';
import { parseInt64 } from '../../../shared/contract/values.ts';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

it('an int64 in text is read over its whole range, and in one spelling only', () => {
  expect([MIN, MAX].map((value) => parseInt64(`${value}`))).toEqual([MIN, MAX]);
  const wrong = ['', '-', '-0', '00', '01', '+1', '1.0', '1e3', ' 1', '1 ', '0x1', '１'];
  for (const text of [`${MIN - 1n}`, `${MAX + 1n}`, ...wrong]) {
    expect(parseInt64(text), text).toBeUndefined();
  }
});

it('an int64 in JSON survives digit for digit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: MIN, max: MAX }), (value) => {
      const text = toJson({ id: value });
      expect(text).toBe(`{"id":${value}}`);
      expect(z.parse(int64, (parseJson(text) as { id: unknown }).id)).toBe(value);
    }),
  );
  // The smallest integer that a number would round, and the largest that it would not.
  const [long, short] = parseJson('[-9007199254740993, 9007199254740991]') as unknown[];
  expect([long, short]).toEqual([-9007199254740993n, 9007199254740991]);
});

it.each([
  ...['9223372036854775808', '-9223372036854775809', '1.5', '1e400', '"1"', 'null'],
  ...['0.99999999999999999999', '9223372036854775807.5'],
])('an int64 in JSON is not %s', (text) =>
  expect(z.safeParse(int64, parseJson(text)).success).toBe(false),
);

const item = { petId: 1, quantity: 0, status: 'sold' };
const pet = {
  id: 1,
  name: '',
  status: 'available',
  category: { id: 2, name: 'Dogs' },
  photoUrls: ['https://images.petstore.example/1.jpg'],
  tags: [{ id: 3, name: 'calm' }],
};
const order = { id: 1, petId: 2, quantity: 1, status: 'placed', placedAt: '2026-11-01T09:30:00Z' };

/** The problems in a document, each with its path. */
function toProblems(schema: z.ZodMiniType, document: unknown): string[] {
  const { error } = schema.safeParse(document);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')} ${message}`);
}

const anInt64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const count = 'must be an integer from 0 to 2147483647';
const status = 'must be "available", "pending" or "sold"';
const orderStatus = 'must be "placed", "approved" or "delivered"';
const dateTime = 'must be an RFC 3339 date-time, such as "2026-11-01T09:30:00Z"';

// The conformance suite shows that each schema accepts the service's responses.
it.each<[z.ZodMiniType, unknown, string?]>([
  [InventoryItem, item],
  [InventoryItem, { ...item, petId: 1.5 }, `petId ${anInt64}`],
  [InventoryItem, { ...item, quantity: -1 }, `quantity ${count}`],
  [InventoryItem, { ...item, quantity: 2 ** 31 }, `quantity ${count}`],
  [InventoryItem, { ...item, status: 'lost' }, `status ${status}`],
  [Pet, pet],
  [Pet, { ...pet, name: 5 }, 'name must be a string'],
  [Pet, { ...pet, status: 'placed' }, `status ${status}`],
  [Pet, { ...pet, photoUrls: ['HTTP://a.example', 'https://[::1]:8443/ö?a=b#c', 'https://u@a/'] }],
  ...[
    ...['', '/1.jpg', '//a.example/1.jpg', 'http://', 'ftp://a.example/1.jpg', 'xhttp://a'],
    ...['JavaScript://a.example/%0Aalert(1)', '\tjavascript:alert(1)'],
  ].map((url): [z.ZodMiniType, unknown, string] => [
    Pet,
    { ...pet, photoUrls: ['https://a.example', url] },
    'photoUrls.1 must be an http or https URL',
  ]),
  [Pet, { ...pet, category: { id: 'x', name: 'Dogs' } }, `category.id ${anInt64}`],
  [Pet, { ...pet, tags: [{ id: 3, name: null }] }, 'tags.0.name must be a string'],
  [Order, { ...order, status: 'approved', shipDate: '2026-11-02T09:30:00+02:00', complete: true }],
  [Order, { ...order, quantity: 0 }, 'quantity must be an integer from 1 to 2147483647'],
  [Order, { ...order, status: 'sold' }, `status ${orderStatus}`],
  [Order, { ...order, placedAt: 'yesterday' }, `placedAt ${dateTime}`],
  [Order, { ...order, shipDate: '2026-11-02' }, `shipDate ${dateTime}`],
  [Order, { ...order, complete: 'yes' }, 'complete must be true or false'],
])(
  'a schema reports each problem, and nothing for a valid document: %#',
  (schema, document, problem) => {
    expect(toProblems(schema, document)).toEqual(problem === undefined ? [] : [problem]);
  },
);

it.each([
  { code: 'unknown', message: 'x', status: 404 },
  { code: 'not_found', message: 1, status: 404 },
  { code: 'not_found', message: 'x', status: 'x' },
])('the schema of an error refuses %j', (document) => {
  expect(toProblems(ErrorBody, document)).toHaveLength(1);
});

// `tsc` checks these.
it('the client’s types match the contract', () => {
  expectTypeOf<client.InventoryItem>().toEqualTypeOf<InventoryItem>();
  expectTypeOf<client.InventoryAdjustment>().toEqualTypeOf<InventoryAdjustment>();
  expectTypeOf<client.InventoryUpdate>().toEqualTypeOf<InventoryUpdate>();
  expectTypeOf<client.Pet>().toEqualTypeOf<Pet>();
  expectTypeOf<client.Order>().toEqualTypeOf<Order>();
  expectTypeOf<client.PetStatus>().toEqualTypeOf<z.output<typeof PetStatus>>();
  expectTypeOf<client.ErrorCode>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<OperationId>().toExtend<keyof client.PetstoreClient>();
});
