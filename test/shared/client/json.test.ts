import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineArrayReader } from '../../../shared/client/json.ts';
import { parseJson } from '../../../shared/contract/json.ts';

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
        expect(read).toEqual(parseJson(text));
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
