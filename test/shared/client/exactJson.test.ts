import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseExactJson } from '../../../shared/client/json.ts';
import { parseJson, toJson } from '../../../shared/contract/values.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const long = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n });
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('n12345678901234567890', 's', '\u0000', '12345678901234567890', '"', '\\"'),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.maxSafeInteger(),
    long,
    fc.constantFrom(null, true, false),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('12345678901234567890')), tie('value')),
  ),
})).value;

describe('the client’s JSON', () => {
  it('is read as the service reads it, long integers digit for digit', () => {
    fc.assert(
      fc.property(document, (value) => {
        const text = toJson(value);
        expect(parseExactJson(text)).toEqual(parseJson(text));
      }),
    );
  });

  it.each(['9007199254740993', '-9223372036854775808', '9223372036854775807'])(
    '%s is a bigint wherever it stands',
    (digits) => {
      const text = `{"a" : ${digits},"${digits}": [ ${digits} ,"${digits}"]}`;
      const expected = { a: BigInt(digits), [digits]: [BigInt(digits), digits] };
      expect(parseExactJson(text)).toEqual(expected);
    },
  );

  it('is exact also where JSON.parse shows a reviver no source text', () => {
    const { parse } = JSON;
    const older = vi
      .spyOn(JSON, 'parse')
      .mockImplementation((text, reviver) =>
        parse(text, reviver && ((key, value) => reviver(key, value))),
      );
    expect(parseExactJson('[9007199254740993]')).toEqual([9007199254740993n]);
    expect(older).toHaveBeenCalled();
    older.mockRestore();
  });

  it.each(['9007199254740991', '-9007199254740991', '1234567890123456.5', '12345678901234567e3'])(
    '%s is a number',
    (digits) => expect(parseExactJson(digits)).toBe(Number(digits)),
  );

  it.each([
    '[12345678901234567',
    '[12345678901234567 12345678901234567]',
    '{12345678901234567: 1}',
    '01234567890123456789',
    '"12345678901234567',
    '12345678901234567"a"',
    '-',
    '',
  ])('%j is refused', (text) => expect(() => parseExactJson(text)).toThrow(SyntaxError));
});
