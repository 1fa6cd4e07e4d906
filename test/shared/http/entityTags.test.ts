import { describe, expect, it } from 'vitest';
import { matchesIfNoneMatch, parseEntityTags } from '../../../shared/http/entityTags.ts';

describe('parseEntityTags', () => {
  it.each([
    ['"a"', [{ isWeak: false, opaque: 'a' }]],
    ['W/"a"', [{ isWeak: true, opaque: 'a' }]],
    ['""', [{ isWeak: false, opaque: '' }]],
    [
      ' "a,b" ,W/"c"',
      [
        { isWeak: false, opaque: 'a,b' },
        { isWeak: true, opaque: 'c' },
      ],
    ],
  ])('reads %s', (text, tags) => {
    expect(parseEntityTags(text)).toEqual(tags);
  });

  it.each(['a', '"a', 'w/"a"', '"a" "b"', '"a b"', '*', '"a", *', 'W/a'])('refuses %s', (text) => {
    expect(parseEntityTags(text)).toBeUndefined();
  });
});

describe('If-None-Match', () => {
  it.each([
    ['W/"x"', true],
    ['"x"', true],
    ['"a", W/"x"', true],
    ['*', true],
    [' * ', true],
    ['W/"y"', false],
    ['x', false],
    ['', false],
    [undefined, false],
  ])('%j matches W/"x": %s', (header, expected) => {
    expect(matchesIfNoneMatch(header, 'W/"x"')).toBe(expected);
  });
});
