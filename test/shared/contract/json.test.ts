import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { parseJson, toJson } from '../../../shared/contract/json.ts';
import { anyCharacter } from '../../support/anyCharacter.ts';

const strings = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('n12345678901234567890', 's', 'n', '12345678901234567890', '"', '\\"', ' 5.0'),
);
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    strings,
    fc.double({ noDefaultInfinity: true, noNaN: true }).filter((value) => value % 1 !== 0),
    fc.maxSafeInteger(),
    fc
      .bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
      .filter((value) => !Number.isSafeInteger(Number(value))),
    fc.constantFrom(null, true, false),
    fc.array(tie('value')),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('12345678901234567890')), tie('value')),
  ),
})).value;

/** A JSON number with its value, as a numerator and a power of ten to divide it by. */
const literal = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(fc.nat(), fc.bigInt({ min: 0n, max: 10n ** 25n })),
    fraction: fc.oneof(fc.constantFrom('', '0', '0'.repeat(30), '9'.repeat(30)), digits(30)),
    exponent: fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
    mark: fc.constantFrom('e', 'E', 'e+', 'E+'),
  })
  .map(({ sign, whole, fraction, exponent, mark }) => {
    const power = exponent === undefined ? '' : `${exponent < 0 ? 'e' : mark}${exponent}`;
    const text = `${sign}${whole}${fraction && `.${fraction}`}${power}`;
    const places = fraction.length - (exponent ?? 0);
    const numerator = BigInt(`${whole}${fraction}`) * 10n ** BigInt(Math.max(0, -places));
    return {
      text,
      isNegative: sign === '-',
      numerator,
      divisor: 10n ** BigInt(Math.max(0, places)),
    };
  });

function digits(maxLength: number) {
  return fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength })
    .map((each) => each.join(''));
}

describe('a number', () => {
  it('is exact if it is an integer, however it is written, and never becomes one', () => {
    fc.assert(
      fc.property(literal, ({ text, isNegative, numerator, divisor }) => {
        const value = parseJson(text) as number | bigint;
        const integer = (numerator / divisor) * (isNegative ? -1n : 1n);
        if (numerator % divisor === 0n) {
          expect(BigInt(value)).toBe(integer);
          expect(typeof value).toBe(Number.isSafeInteger(Number(integer)) ? 'number' : 'bigint');
        } else {
          expect(Number.isInteger(value)).toBe(false);
          const rounded = Number(text);
          expect(value).toBe(Number.isInteger(rounded) ? Number.NaN : rounded);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    '0.99999999999999999999',
    '1e-400',
    '9007199254740992.5',
    `0.${'0'.repeat(400)}1`,
    `1${'0'.repeat(30)}1e-1`,
  ])('%s is not an integer for a schema', (text) => {
    for (const place of [text, ` ${text}`, `[${text}]`, `{"a":${text}}`, `["a",\n${text} ]`]) {
      expect(JSON.stringify(parseJson(place)), place).not.toMatch(/\d/);
    }
  });

  it.each<[string, number | bigint]>([
    ['5.0', 5],
    ['50E-1', 5],
    ['-0', -0],
    ['0e99999999999999999999', 0],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['9007199254740993.0', 9_007_199_254_740_993n],
    ['12345678901234567e3', 12_345_678_901_234_567_000n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['19.99', 19.99],
    ['1e400', Number.POSITIVE_INFINITY],
    ['-1e99999999999999999999', Number.NEGATIVE_INFINITY],
  ])('%s is %s', (text, value) => expect(parseJson(text)).toBe(value));

  it('never makes a longer bigint than a number’s range', () => {
    expect(parseJson('1e308')).toBe(10n ** 308n);
    expect(parseJson(`[1e309, 1e999999999, ${'1'.repeat(310)}]`)).toEqual(
      Array(3).fill(Number.POSITIVE_INFINITY),
    );
  });
});

describe('JSON', () => {
  it('survives digit for digit', () => {
    fc.assert(
      fc.property(document, (value) => {
        expect(parseJson(toJson(value))).toEqual(value);
        expect(parseJson(toJson([value, 5n ** 40n]))).toEqual([value, 5n ** 40n]);
      }),
    );
  });

  it.each(['9007199254740993', '-9223372036854775808'])('has %s in any place', (integer) => {
    const text = `{"a" : ${integer},"${integer}": [ ${integer} ,"${integer}"]}`;
    const value = BigInt(integer);
    expect(parseJson(text)).toEqual({ a: value, [integer]: [value, integer] });
  });

  it('is exact also if JSON.parse passes no source text to a reviver', () => {
    const { parse } = JSON;
    using older = vi
      .spyOn(JSON, 'parse')
      .mockImplementation((text, reviver) =>
        parse(text, reviver && ((name, value) => reviver(name, value))),
      );
    expect(parseJson('[9007199254740993, 0.99999999999999999999, "s", 5.0]')).toEqual([
      ...[9007199254740993n, Number.NaN, 's', 5],
    ]);
    expect(older).toHaveBeenCalled();
  });

  it('without long or fractional numbers is parsed like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!/\d{16}|\d[.e]/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is read if it is valid, and refused otherwise', () => {
    const piece = fc.constantFrom(
      ...'"\\{}[],:-+.e05 \n\u00a0\u0000',
      ...['12345678901234567', 'null', 'NaN', 'Infinity', '"a"', '"a":', '1.5', '0x1'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        expect(isRead(parseJson, text), text).toBe(isRead(JSON.parse, text));
      }),
      { numRuns: 1_500 },
    );
  });

  it.each([
    '[12345678901234567',
    '[12345678901234567 12345678901234567]',
    '{12345678901234567: 1}',
    ...['01234567890123456789', '-01.5', '1.', '.5', '+5.0', '5.0.0', '1e', '1.5-2'],
    ...['"12345678901234567', '"12345678901234567\\', '12345678901234567"a"'],
    ...['1.5 "a"', '{"a":1.5', '{"a":NaN,"b":1.5}', '-', ''],
  ])('%j is refused', (text) => expect(() => parseJson(text)).toThrow(SyntaxError));
});

function isRead(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return false;
  }
}

/** The least processor time of several runs, in microseconds, so that a busy machine adds nothing. */
function measureReading(text: string): number {
  const readings = Array.from({ length: 5 }, () => {
    const started = process.cpuUsage();
    try {
      parseJson(text);
    } catch {}
    const { user, system } = process.cpuUsage(started);
    return user + system;
  });
  return Math.min(...readings);
}

it('a truncated string takes no longer to parse than a complete one, with any content', () => {
  const truncated = `[1234567890123456,"1234567890123456${'\\"'.repeat(20_000)}`;
  expect(() => parseJson(truncated)).toThrow(SyntaxError);
  expect(measureReading(truncated) / measureReading(`${truncated}"]`)).toBeLessThan(20);
});

const MILLION = 1_000_000;
it.each([
  ['digits', '9'.repeat(MILLION), Number.POSITIVE_INFINITY],
  ['zeros after the point', `0.${'0'.repeat(MILLION)}1`, Number.NaN],
  ['zeros that an exponent cancels', `1${'0'.repeat(MILLION)}e-${MILLION}`, 1],
  ['nines after the point', `0.${'9'.repeat(MILLION)}`, Number.NaN],
  ['points', '1.'.repeat(MILLION / 2), undefined],
])('a million %s take less than a second, so no time that grows as their square', (...row) => {
  const [, text, value] = row;
  expect(measureReading(text)).toBeLessThan(1_000_000);
  if (value !== undefined) expect(parseJson(text)).toBe(value);
});
