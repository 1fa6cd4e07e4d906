import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildCondition,
  newVersion,
  readVersion,
  toInventoryItem,
  toInventoryRecord,
  toVersionValue,
} from '../../../shared/store/inventoryRecord.ts';

const { itemSize } = createRequire(import.meta.url)('dynalite/db');

const anyItem = fc.record({
  petId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  quantity: fc.integer({ min: 0, max: 2_147_483_647 }),
  status: fc.constantFrom('available', 'pending', 'sold'),
});

describe('an inventory record', () => {
  it('gives back its entry', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const record = toInventoryRecord(item);
        expect(toInventoryItem(record)).toEqual(item);
      }),
    );
  });

  it('takes 11 bytes for a pet id of six digits', () => {
    const record = toInventoryRecord({ petId: 123_456n, quantity: 9_999, status: 'available' });
    expect(itemSize(record, false)).toBe(11);
  });

  it('is so short that a page has 20,000, and so the ETag that the guide to lists names', () => {
    const longest = { petId: -(2n ** 63n), quantity: 2_147_483_647, status: 'sold' } as const;
    const record = { ...toInventoryRecord(longest), v: { B: 'AQIDBAU=' } };
    // As the local stage counts a page, with what it adds to each item.
    expect(20_000 * itemSize(record, true, true)).toBeLessThan(1_024 ** 2);
    expect(toVersionValue(newVersion()).B).toHaveLength(Buffer.from(record.v.B, 'base64').length);
  });

  it('is refused by the name of an invalid attribute', () => {
    const record = { p: { N: '1.5' }, q: { N: '1' }, s: { S: 'a' } };
    expect(() => toInventoryItem(record)).toThrow(
      'petId 1.5 is not valid: p (petId) must be an integer from -9223372036854775808 to 92',
    );
    const { p, s } = toInventoryRecord({ petId: 7n, quantity: 1, status: 'sold' });
    expect(() => toInventoryItem({ p, s })).toThrow(
      'The record of petId 7 is not valid: q (quantity) is missing; it must be an integer from 0 to 2147483647.',
    );
    const long = { ...record, p, s: { S: 'x'.repeat(999) } };
    expect(() => toInventoryItem(long)).toThrow(
      /: s \(status\) must be "a", "p" or "s", and is {"S":"x{94}\.$/,
    );
  });
});

describe('a version', () => {
  it('of an entry without updates names its content', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const { p, q, s } = toInventoryRecord(item);
        const version = readVersion({ p, q, s } as never);
        expect(version).toMatch(/^[\w-]{8}$/);
        expect(buildCondition(version, 2)).toEqual({
          expression: 'attribute_not_exists(v) AND q = :q2 AND s = :s2',
          values: { ':q2': q, ':s2': s },
        });
      }),
    );
  });

  it('of an update is only its random value, in 6 bytes with its name', () => {
    const versions = new Set(Array.from({ length: 100 }, newVersion));
    expect(versions.size).toBe(100);
    for (const version of versions) {
      expect(version).toMatch(/^[\w-]{7}$/);
      const v = toVersionValue(version);
      expect(1 + (v.B?.length ?? 0)).toBe(6);
      expect(readVersion({ q: { N: '1' }, s: { S: 'a' }, v })).toBe(version);
      expect(buildCondition(version, 1)).toEqual({ expression: 'v = :v1', values: { ':v1': v } });
    }
  });

  it('is the same from the SDK’s bytes and from a raw page’s base64', () => {
    const B = Buffer.from([255, 254, 62, 63, 0]);
    const rest = { q: { N: '1' }, s: { S: 'a' } };
    expect(readVersion({ ...rest, v: { B } })).toBe('__4-PwA');
    expect(readVersion({ ...rest, v: { B: B.toString('base64') as never } })).toBe('__4-PwA');
  });

  it('differs from texts of other lengths, alphabets and spellings', () => {
    const other = ' 1.5.a AAAA AAAAAAA= AAAAAAB AAAAGQBhYQ AAAAGQFh AAAA+/A'.split(' ');
    const typed = 'AAAAGQBh.N AAAAGQBh.N. AAAAGQBh.N.YQ AAAAGQBh.S.YR AAAAGQBh.L.YQ'.split(' ');
    for (const text of [...other, ...typed, ' AAAAAA'])
      expect(buildCondition(text, 0), text).toBeUndefined();
  });
});
