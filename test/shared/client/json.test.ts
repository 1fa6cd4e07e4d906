import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { defineArrayReader, parseExactJson } from '../../../shared/client/json.ts';
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
  it('is parsed as the service parses it, long integers digit for digit', () => {
    fc.assert(
      fc.property(document, (value) => {
        const text = toJson(value);
        expect(parseExactJson(text)).toEqual(parseJson(text));
      }),
    );
  });

  it.each(['9007199254740993', '-9223372036854775808'])('%s is a bigint in any place', (digits) => {
    const text = `{"a" : ${digits},"${digits}": [ ${digits} ,"${digits}"]}`;
    const expected = { a: BigInt(digits), [digits]: [BigInt(digits), digits] };
    expect(parseExactJson(text)).toEqual(expected);
  });

  it('is exact also if JSON.parse passes no source text to a reviver', () => {
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
    '"12345678901234567\\',
    '"12345678901234567\\\n',
    '12345678901234567"a"',
    '-',
    '',
  ])('%j is refused', (text) => expect(() => parseExactJson(text)).toThrow(SyntaxError));
});

/** The least processor time of several runs, so that a busy machine adds nothing. */
function measureReading(text: string): number {
  const readings = Array.from({ length: 5 }, () => {
    const begun = process.cpuUsage();
    try {
      parseExactJson(text);
    } catch {}
    const { user, system } = process.cpuUsage(begun);
    return user + system;
  });
  return Math.min(...readings);
}

it('a truncated string takes no longer to parse than a complete one, with any content', () => {
  const begun = `["1234567890123456${'\\"'.repeat(20_000)}`;
  expect(() => parseExactJson(begun)).toThrow(SyntaxError);
  expect(measureReading(begun) / measureReading(`${begun}"]`)).toBeLessThan(20);
});

const elements = fc.array(
  fc.oneof(fc.jsonValue(), fc.constantFrom('],["', '\\', '\\"]', { '{"[,': ['}', '"'] })),
);

/** Cuts a text at any places. */
function cut(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length];
  ends.sort((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

describe('an array that arrives in pieces', () => {
  it('gives every element once, with any cuts', () => {
    const indent = fc.constantFrom('', '  ');
    fc.assert(
      fc.property(elements, fc.array(fc.nat()), indent, (array, places, space) => {
        const reader = defineArrayReader();
        const text = ` ${JSON.stringify(array, null, space)}\n`;
        const read = cut(text, places).flatMap((piece) => reader.read(piece));
        expect(read).toEqual(parseExactJson(text));
        expect(reader.isWhole).toBe(true);
      }),
    );
  });

  it('is incomplete before its closing bracket, with any elements', () => {
    fc.assert(
      fc.property(elements, fc.nat(), (array, place) => {
        const reader = defineArrayReader();
        const text = JSON.stringify(array);
        reader.read(text.slice(0, place % text.length));
        expect(reader.isWhole).toBe(false);
      }),
    );
  });

  it('gives an element as soon as the comma after it arrives', () => {
    const reader = defineArrayReader();
    expect(reader.read('[{"a":[1,')).toEqual([]);
    expect(reader.read('2]},')).toEqual([{ a: [1, 2] }]);
    expect(reader.read('3,9223372036854775807,4')).toEqual([3, 9223372036854775807n]);
    expect(reader.read(']')).toEqual([4]);
  });

  it.each(['{"a":1}', 'x', '[1,]', '[,1]', '[1,,2]', '[1}', '[1]]', '[] []', '[{]}]', '[1 2]'])(
    'is refused if it is %j, at once or in pieces',
    (text) => {
      for (const pieces of [[text], [...text]]) {
        const { read } = defineArrayReader();
        expect(() => pieces.map(read)).toThrow(SyntaxError);
      }
    },
  );
});
