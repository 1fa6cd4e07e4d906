import { expect, it } from 'vitest';
import { toContentCoding } from '../../../shared/http/contentCoding.ts';

it.each([
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'gzip'],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['*', 'gzip'],
  ['deflate , gzip ; q=0.001', 'gzip'],
  ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['gzip;q=0', undefined],
  ['gzip;q=0.000, *', undefined],
  ['*;q=0', undefined],
  ['gzip;x=1', 'gzip'],
  ['gzip;q=1', 'gzip'],
  ['gzip;q=1.000', 'gzip'],
  ['gzip;q=1.5', undefined],
  ['gzip;q=0.1234', undefined],
  ['gzip;q=2', undefined],
  ['gzip;q=nonsense', undefined],
  ['identity', undefined],
  ['br', undefined],
  ['gzipped', undefined],
  ['', undefined],
  [undefined, undefined],
  ['zstd', 'zstd'],
  // Chromium and Firefox, over TLS.
  ['gzip, deflate, br, zstd', 'zstd'],
  ['ZSTD;q=0.5, gzip;q=0.5', 'zstd'],
  ['zstd;q=0.5, gzip', 'gzip'],
  ['zstd, gzip;q=0', 'zstd'],
  ['zstd;q=0, gzip', 'gzip'],
  ['zstd;q=0, *', 'gzip'],
  ['zstd;q=0.5, *', 'gzip'],
  ['zstd;q=0', undefined],
  ['zstd;q=0.5, identity', undefined],
  ['zstd;q=0.5, identity;q=0.5', 'zstd'],
  ['zstd;q=0.5, gzip;q=0.4, identity;q=0.6', undefined],
])('takes the header %j for %j', (header, expected) => {
  expect(toContentCoding(header)).toBe(expected);
});
