import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { expectReadableFrom } from '../expectations.ts';
import { send, type TargetSource } from '../target.ts';

/** What a client saves that sends `If-None-Match` or takes a compressed list. */
export function describeConditionalList(target: TargetSource): void {
  const list = (headers: Record<string, string> = {}) =>
    send(target(), 'GET', '/inventory', { headers });
  const readEntityTag = async () => (await list()).headers.get('ETag') ?? '';

  describe('listInventory names its list by an ETag', () => {
    test('that stays the same while the list does', async () => {
      const entityTag = await readEntityTag();
      expect(entityTag).toMatch(/^W\/"[^"]+"$/);
      expect(await readEntityTag()).toBe(entityTag);
    });

    test('and answers 304 without a body to whom has it', async () => {
      const entityTag = await readEntityTag();
      for (const value of [entityTag, `"x", ${entityTag}`, entityTag.replace('W/', ''), '*']) {
        const response = await list({ 'If-None-Match': value, Origin: target().origin });
        expect(response.status).toBe(304);
        expect(response.bytes).toHaveLength(0);
        expect(response.headers.get('ETag')).toBe(entityTag);
        expect(response.headers.get('Vary')).toMatch(/\bAccept-Encoding\b/);
        expect(response.headers.get('X-Request-Id')).toBeTruthy();
        expectReadableFrom(target().origin, response);
      }
    });

    test('and answers 200 to any other', async () => {
      for (const value of ['W/"x"', '"x"', 'nonsense', '']) {
        const response = await list({ 'If-None-Match': value });
        expect(response.status).toBe(200);
        expect(response.json()).not.toEqual([]);
      }
    });
  });

  describe('listInventory compresses its list', () => {
    test.each([
      ['gzip', 'gzip'],
      ['br;q=1, gzip;q=0.5', 'gzip'],
      ['*', 'gzip'],
      ['zstd;q=0.8, gzip', 'gzip'],
      ['zstd', 'zstd'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip;q=0.5, zstd;q=0.5', 'zstd'],
    ] as const)('for a client that accepts %s, by %s', async (value, coding) => {
      const plain = await list();
      const response = await list({ 'Accept-Encoding': value });
      expect(response.headers.get('Content-Encoding')).toBe(coding);
      expect(response.headers.get('Vary')).toMatch(/\bAccept-Encoding\b/);
      expect(response.bytes.length).toBeLessThan(plain.bytes.length / 2);
      const decode = { gzip: gunzipSync, zstd: zstdDecompressSync }[coding];
      expect(decode(response.bytes).toString()).toBe(plain.text);
    });

    test.each(['identity', 'gzip;q=0', 'zstd;q=0', 'br', ''])(
      'for no client that sends %j',
      async (value) => {
        const response = await list({ 'Accept-Encoding': value });
        expect(response.headers.get('Content-Encoding')).toBeNull();
        expect(response.headers.get('Vary')).toMatch(/\bAccept-Encoding\b/);
        expect(response.json()).not.toEqual([]);
      },
    );

    test('not when it is small', async () => {
      const response = await send(target(), 'GET', '/inventory?limit=1', {
        headers: { 'Accept-Encoding': 'gzip, zstd' },
      });
      expect(response.headers.get('Content-Encoding')).toBeNull();
      expect(response.json()).toHaveLength(1);
    });
  });
}
