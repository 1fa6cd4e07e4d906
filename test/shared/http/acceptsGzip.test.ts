import { expect, it } from 'vitest';
import { acceptsGzip } from '../../../shared/http/acceptsGzip.ts';

it.each([
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['br;q=1.0, gzip;q=0.8, *;q=0.1', true],
  ['GZIP', true],
  ['x-gzip', true],
  ['*', true],
  ['deflate , gzip ; q=0.001', true],
  ['identity;q=0.5, gzip;q=0.5', true],
  ['identity, gzip;q=0.5', false],
  ['gzip;q=0', false],
  ['gzip;q=0.000, *', false],
  ['*;q=0', false],
  ['gzip;x=1', true],
  ['gzip;q=1', true],
  ['gzip;q=1.000', true],
  ['gzip;q=1.5', false],
  ['gzip;q=0.1234', false],
  ['gzip;q=2', false],
  ['gzip;q=nonsense', false],
  ['identity', false],
  ['br', false],
  ['gzipped', false],
  ['', false],
  [undefined, false],
])('takes the header %j for gzip: %s', (header, expected) => {
  expect(acceptsGzip(header)).toBe(expected);
});
