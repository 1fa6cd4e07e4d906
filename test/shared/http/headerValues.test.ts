import { describe, expect, it } from 'vitest';
import { chooseContentCoding } from '../../../shared/http/contentCoding.ts';
import { matchesIfNoneMatch, parseEntityTags } from '../../../shared/http/entityTags.ts';

describe('an Accept-Encoding header', () => {
  it.each([
    ['gzip', 'gzip'],
    ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'gzip'],
    ['deflate , gzip ; q=0.001', 'gzip'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity, gzip;q=0.5', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=0.000, *', undefined],
    ['gzip;x=0', 'gzip'],
    ['gzip;q=1.5', undefined],
    ['gzip;q=0.1234', undefined],
    ['gzipped', undefined],
    [undefined, undefined],
    ['zstd', 'zstd'],
    // Chromium and Firefox, over TLS.
    ['gzip, deflate, br, zstd', 'zstd'],
    ['ZSTD;q=0.5, gzip;q=0.5', 'zstd'],
    ['zstd;q=0.5, gzip', 'gzip'],
    ['zstd;q=0.5, identity;q=0.5', 'zstd'],
    ['zstd;q=0.5, gzip;q=0.4, identity;q=0.6', undefined],
  ])('%j takes %j', (header, expected) => {
    expect(chooseContentCoding(header)).toBe(expected);
  });
});

const tag = (opaque: string, isWeak = false) => ({ isWeak, opaque });

describe('a list of entity tags', () => {
  it.each([
    ['"a"', [tag('a')]],
    ['W/"a"', [tag('a', true)]],
    ['""', [tag('')]],
    // Recipients must accept empty elements (RFC 9110 section 5.6.1.2).
    [', "a",, ,"b" ,', [tag('a'), tag('b')]],
    [',', []],
    // Bytes above 0x7f, as Node's HTTP server reads them and as text in UTF-8.
    ['"\u00c3\u00a9"', [tag('\u00c3\u00a9')]],
    ['"猫"', [tag('猫')]],
    [' "a,b" ,W/"c"', [tag('a,b'), tag('c', true)]],
  ])('%s is %j', (text, tags) => {
    expect(parseEntityTags(text)).toEqual(tags);
  });

  it.each([
    ...['a', '"a', 'w/"a"', '"a" "b"', '"a b"', '*', '"a", *', 'W/a', '"a""b"', '"\u007f"', ', a'],
  ])('is not %s', (text) => {
    expect(parseEntityTags(text)).toBeUndefined();
  });
});

it.each([' * ', '"a", W/"W/x"', undefined, 'x'])(
  'If-None-Match: %j is compared weakly',
  (header) => {
    expect(matchesIfNoneMatch(header, 'W/"W/x"')).toBe(header !== undefined && header !== 'x');
  },
);
