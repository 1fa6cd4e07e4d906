import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { toInventoryItem, toOrder, toPet, toTaggedItem } from '../../../shared/client/resources.ts';
import { MAX_QUANTITY, petStatuses } from '../../../shared/contract/values.ts';

import {
  toInventoryRecord,
  toTaggedItem as toTagOfRecord,
} from '../../../shared/store/inventoryRecord.ts';

const MAX_ID = 2n ** 63n - 1n;

const item = { petId: 7, quantity: 9, status: 'available' };
const pet = { id: 7, name: 'Rex', status: 'sold' };
const order = { id: 1, petId: 7, quantity: 1, status: 'placed', placedAt: '2026-11-01T09:30:00Z' };

/** A resource with changed members; `undefined` leaves one out. */
function change(resource: object, changes: object): unknown {
  const changed = Object.entries({ ...resource, ...changes });
  return Object.fromEntries(changed.filter(([, value]) => value !== undefined));
}

describe('a resource of a response is taken', () => {
  it.each([0, 1, MAX_QUANTITY])('with a stock count of %i', (quantity) => {
    expect(toInventoryItem({ ...item, quantity })).toEqual({
      petId: 7n,
      quantity,
      status: 'available',
    });
  });

  it.each(petStatuses)('with the status %s', (status) => {
    expect(toInventoryItem({ ...item, status }).status).toBe(status);
    expect(toPet({ ...pet, status }).status).toBe(status);
  });

  it.each(['placed', 'approved', 'delivered'])('as an order that is %s', (status) => {
    expect(toOrder({ ...order, status }).status).toBe(status);
  });

  it.each([0, 2 ** 53 - 1, MAX_ID, -MAX_ID - 1n])('with the id %s', (petId) => {
    expect(toInventoryItem({ ...item, petId }).petId).toBe(BigInt(petId));
  });

  it('with every optional member, and with unknown ones', () => {
    const named = { id: 1, name: 'a', color: 'red' };
    const rest = { photoUrls: ['https://photos.example/7'], shelf: null };
    const whole = toPet({ ...pet, ...rest, category: named, tags: [named] });
    const taken = { ...named, id: 1n };
    expect(whole).toEqual({ ...pet, ...rest, id: 7n, category: taken, tags: [taken] });
    const more = { shipDate: '2026-11-02T09:30:00Z', complete: false, note: 5 };
    expect(toOrder({ ...order, ...more })).toEqual({ ...order, ...more, id: 1n, petId: 7n });
    expect(toTaggedItem({ ...item, etag: '"a"', shelf: {} })).toMatchObject({ shelf: {} });
  });
});

const invalidCounts = [undefined, '9', 1.5, MAX_QUANTITY + 1];
const invalidTexts = [undefined, 5];
const invalidIds = [undefined, '7', 1.5, 2 ** 53, MAX_ID + 1n, -MAX_ID - 2n];

type Convert = (document: unknown) => unknown;

function toRows(convert: Convert, resource: object, name: string, values: readonly unknown[]) {
  return values.map((value) => ({
    convert,
    by: convert.name,
    name,
    value,
    document: change(resource, { [name]: value }),
  }));
}

describe('the tag of an entry', () => {
  const attributes = toInventoryRecord({ petId: 7n, quantity: 9, status: 'available' });
  const toTag = (v: AttributeValue) => toTagOfRecord({ ...attributes, v }).etag;

  it.each([
    toTagOfRecord(attributes).etag,
    toTag({ N: '12' }),
    toTag({ N: '-3.5' }),
    // Updates' random values, the most like another server's.
    ...['aaaa-br', 'aa-gzip', 'aa-zstd', '-------'].map((text) =>
      toTag({ B: Buffer.from(text, 'base64url') }),
    ),
    // Of a future release.
    '"9"',
    '"v2:AAAACQBh"',
    '"sha256-47DEQpj8HBSa"',
  ])('is taken as the service makes it: %s', (etag) => {
    expect(toTaggedItem({ ...item, etag }).etag).toBe(etag);
  });

  it.each([
    'W/"AAAACQBh"',
    'AAAACQBh"',
    '"AAAACQBh',
    '"AAAACQBh"-gzip',
    ...['-gzip', ';gzip', ':gzip', '+br', '-zstd', '-deflate', '-GZIP'].map(
      (suffix) => `"AAAACQBh${suffix}"`,
    ),
  ])('is refused as a proxy changes it: %s', (etag) => {
    const expected = {
      code: 'invalid_response',
      message: expect.stringContaining('A proxy changed the ETag'),
    };
    expect(() => toTaggedItem({ ...item, etag })).toThrow(expect.objectContaining(expected));
  });
});

/** Not of the member alone: a tag may be a header, and the others are resources of their own. */
const messages: Record<string, string> = { etag: 'The tag is missing.', category: '', tags: '' };

describe('a resource of a response is refused', () => {
  it.each([
    ...toRows(toInventoryItem, item, 'quantity', [-1, ...invalidCounts]),
    ...toRows(toInventoryItem, item, 'status', [undefined, 'Sold']),
    ...toRows(toInventoryItem, item, 'petId', invalidIds),
    ...toRows(toTaggedItem, { ...item, etag: '"a"' }, 'etag', ['', ...invalidTexts]),
    ...toRows(toOrder, order, 'quantity', [0, MAX_QUANTITY + 1]),
    ...toRows(toOrder, order, 'status', [undefined, 'sold']),
    ...toRows(toOrder, order, 'placedAt', invalidTexts),
    ...toRows(toOrder, order, 'shipDate', [null]),
    ...toRows(toOrder, order, 'complete', [null]),
    ...toRows(toOrder, order, 'id', [undefined]),
    ...toRows(toOrder, order, 'petId', [undefined]),
    ...toRows(toPet, pet, 'id', [undefined]),
    ...toRows(toPet, pet, 'name', invalidTexts),
    ...toRows(toPet, pet, 'status', [undefined, 'placed']),
    ...toRows(toPet, pet, 'category', [null, { id: 1 }, { id: '1', name: 'Cats' }]),
    ...toRows(toPet, pet, 'tags', ['small', [{ id: 1, name: 5 }]]),
    ...toRows(toPet, pet, 'photoUrls', ['https://photos.example/7', [5]]),
  ])('by $by if its $name is $value', ({ convert, name, document }) => {
    const message = messages[name] ?? `Its ${name} is missing or invalid.`;
    expect(() => convert(document)).toThrow(message);
  });

  it.each([undefined, 'text', []])('if it is %o', (document) => {
    for (const convert of [toInventoryItem, toTaggedItem, toPet, toOrder]) {
      expect(() => convert(document)).toThrow();
    }
  });
});
