import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import { int64 } from '../../../shared/contract/schemas.ts';
import { parseInt64, parseJson, toJson } from '../../../shared/contract/values.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

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

it.each(['9223372036854775808', '-9223372036854775809', '1.5', '1e400', '"1"', 'null', 'true'])(
  'an int64 in JSON is not %s',
  (text) => expect(z.safeParse(int64, parseJson(text)).success).toBe(false),
);

it('documents without large integers are parsed like JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!/\d{16}/.test(text));
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
});
