import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Access, SiteFile } from '../../../infra/docs/page.ts';
import type { GatewayRequest } from '../../../infra/local/gateway/messages.ts';
import { defineDocumentation } from '../../../infra/local/localStage.ts';

const own = { name: 'this machine', baseUrl: 'http://127.0.0.1:3000/v1', purpose: 'for tests' };
const documentationAddress = 'http://127.0.0.1:3000/docs';
const local: Access = { documentationAddress, servers: [own], apiKey: 'psk_local' };
const page = { type: 'text/html', policy: "default-src 'none'", body: 'page' };

const script = 'script();'.repeat(1_000);

let builds = 0;
let serveDocs: ReturnType<typeof defineDocumentation>;
beforeEach(() => {
  builds = 0;
  serveDocs = defineDocumentation(local, async (given) => {
    builds += 1;
    expect(given).toBe(local);
    return new Map<string, SiteFile>([
      ['index.html', page],
      ['lasting.js', { type: 'text/javascript', body: script, isImmutable: true }],
      ['made.tgz', { type: 'application/gzip', body: async () => Buffer.from('made') }],
    ]);
  });
});

/** @param line the method and the path, and the host if it is another */
function send(line: string, headers: Record<string, string> = {}) {
  const [method, fullPath, host = '127.0.0.1:3000'] = line.split(' ');
  const headerLines = [['Host', host], ...Object.entries(headers)];
  return serveDocs({ method, fullPath, headerLines } as unknown as GatewayRequest);
}

const served = {
  statusCode: 200,
  headers: {
    'Content-Type': 'text/html',
    // A page cannot say in itself who may frame it.
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Cross-Origin-Resource-Policy': 'same-origin',
  },
  body: 'page',
};
const redirected = { statusCode: 302, headers: { Location: '/docs/' }, body: '' };
const refused = { statusCode: 403, body: expect.stringContaining('127.0.0.1, localhost or') };

describe('the documentation', () => {
  test.each([
    ['GET /docs/', served, 1],
    ['GET /docs/index.html', served, 1],
    ['HEAD /docs/', served, 1],
    ['GET /docs/ [::1]:3000', served, 1],
    ['GET /docs', redirected, 0],
    [
      'GET /docs/made.tgz',
      { headers: { 'Cache-Control': 'no-store' }, body: Buffer.from('made') },
      1,
    ],
    ['POST /docs/', { statusCode: 405, headers: { Allow: 'GET, HEAD' } }, 1],
    // The gateway responds for paths that the documentation does not have.
    ['GET /docsx', undefined, 0],
    ['GET /docs/nothing.html', undefined, 1],
    // A foreign name, which may point here to read the key.
    ['GET /docs/ petstore.example:3000', refused, 0],
    ['GET / petstore.example:3000', undefined, 0],
  ])('returns %s, and is built only when needed', async (line, expected, built) => {
    const response = await send(line);
    if (expected === undefined) expect(response).toBeUndefined();
    else expect(response).toMatchObject(expected);
    expect(builds).toBe(built);
  });

  test.each([
    ['gzip', 'gzip, br', gunzipSync],
    ['zstd', 'gzip, deflate, br, zstd', zstdDecompressSync],
    [undefined, 'br, gzip;q=0', (body: Buffer) => body],
    [undefined, undefined, (body: Buffer) => body],
  ])('is sent as %s to a client that accepts %s', async (coding, accepted, decompress) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
    const { headers: told, body = '' } = (await send('GET /docs/lasting.js', headers)) ?? {};
    expect(told?.['Content-Encoding']).toBe(coding);
    expect(told?.Vary).toBe('Accept-Encoding');
    expect(String(decompress(Buffer.from(body)))).toBe(script);
    if (coding !== undefined) expect(body.length).toBeLessThan(script.length / 10);
  });

  test('is cached by browsers only for files with a hash in their names', async () => {
    const toCaching = async (line: string) => (await send(line))?.headers['Cache-Control'];
    expect(await toCaching('GET /docs/lasting.js')).toBe('public, max-age=31536000, immutable');
    expect(await toCaching('GET /docs/')).toBe('no-store');
  });

  test('is built once', async () => {
    await Promise.all([send('GET /docs/'), send('GET /docs/index.html')]);
    expect(builds).toBe(1);
  });
});
