import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { int64 } from '../../../shared/contract/schemas.ts';
import { parseInt64, parseJson, toJson } from '../../../shared/contract/values.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;
const anyInt64 = fc.bigInt({ min: MIN, max: MAX });

describe('parseInt64', () => {
  it('reads back every int64 that is written in decimal', () => {
    fc.assert(fc.property(anyInt64, (value) => parseInt64(value.toString()) === value));
  });

  it('accepts a text only when it is the canonical one of its value', () => {
    const digits = fc.stringMatching(/^[-+ 0-9.e]{0,22}$/);
    fc.assert(
      fc.property(fc.oneof(digits, fc.string()), (text) => {
        const value = parseInt64(text);
        return value === undefined || value.toString() === text;
      }),
    );
  });

  it('takes the ends of the range, and nothing beyond', () => {
    expect([MIN, MAX].map((value) => parseInt64(`${value}`))).toEqual([MIN, MAX]);
    const wrong = ['', '-', '-0', '00', '01', '+1', '1.0', '1e3', ' 1', '1 ', '0x1', '１'];
    for (const text of [`${MIN - 1n}`, `${MAX + 1n}`, ...wrong]) {
      expect(parseInt64(text), text).toBeUndefined();
    }
  });
});

describe('int64 in JSON', () => {
  it('comes back digit for digit', () => {
    fc.assert(
      fc.property(anyInt64, (value) => {
        const text = toJson({ id: value });
        expect(text).toBe(`{"id":${value}}`);
        expect(z.parse(int64, (parseJson(text) as { id: unknown }).id)).toBe(value);
      }),
    );
  });

  it.each(['9223372036854775808', '-9223372036854775809', '1.5', '1e400', '"1"', 'null', 'true'])(
    'is not %s',
    (text) => expect(z.safeParse(int64, parseJson(text)).success).toBe(false),
  );
});

describe('parseJson', () => {
  it('keeps each digit of the shortest integer that a number would round', () => {
    expect(parseJson('[9007199254740993, -9007199254740993, 9007199254740991]')).toEqual([
      9007199254740993n,
      -9007199254740993n,
      9007199254740991,
    ]);
  });

  it('agrees with JSON.parse on every document without large integers', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/\d{16}/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});
