import { describe, expect, it } from 'vitest';
import { matchesIfNoneMatch, parseEntityTags } from '../../../shared/http/entityTags.ts';

describe('parseEntityTags', () => {
  it.each([
    ['"a"', [{ isWeak: false, opaque: 'a' }]],
    ['W/"a"', [{ isWeak: true, opaque: 'a' }]],
    ['""', [{ isWeak: false, opaque: '' }]],
    // A recipient tolerates empty elements (RFC 9110 section 5.6.1.2).
    [
      ', "a",, ,"b" ,',
      [
        { isWeak: false, opaque: 'a' },
        { isWeak: false, opaque: 'b' },
      ],
    ],
    [',', []],
    // Bytes past 0x7f, as Node's HTTP server reads them and as text in UTF-8.
    ['"\u00c3\u00a9"', [{ isWeak: false, opaque: '\u00c3\u00a9' }]],
    ['"猫"', [{ isWeak: false, opaque: '猫' }]],
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

  it.each([
    'a',
    '"a',
    'w/"a"',
    '"a" "b"',
    '"a b"',
    '*',
    '"a", *',
    'W/a',
    '"a""b"',
    '"\u007f"',
    ', a',
  ])('refuses %s', (text) => {
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
