import fc from 'fast-check';

const SURROGATES = { first: 0xd800, count: 0x800 };

/** Any Unicode character, like `unit: 'binary'`, which lists all million of them first. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES.count })
  .map((index) =>
    String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  );
