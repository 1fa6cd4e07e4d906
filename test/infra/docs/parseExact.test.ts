import { expect, test, vi } from 'vitest';

const file = '../../../infra/docs/guides/parseExact.js';
const { parseExact } = (await import(file)) as { parseExact(text: string): unknown };

test('the snippet reads integers that a number cannot hold as BigInt, and leaves the rest', () => {
  const numbers = '{"petId":9223372036854775807},-9223372036854775808,9007199254740993';
  expect(parseExact(`[${numbers},9007199254740991,0.5,1e400,"1",null]`)).toEqual([
    { petId: 9223372036854775807n },
    ...[-9223372036854775808n, 9007199254740993n, 9007199254740991, 0.5],
    ...[Number.POSITIVE_INFINITY, '1', null],
  ]);
});

test('the snippet throws instead of rounding if JSON.parse gives no source text', () => {
  const { parse } = JSON;
  const older: typeof parse = (text, reviver) =>
    parse(text, (key, value) => reviver?.call(undefined, key, value));
  using _ = vi.spyOn(JSON, 'parse').mockImplementation(older);
  expect(parseExact('{"petId":7,"quantity":0.5}')).toEqual({ petId: 7, quantity: 0.5 });
  expect(() => parseExact('{"petId":9007199254740993}')).toThrow(
    new TypeError('JSON.parse gives no source text here: petId would be rounded.'),
  );
});
