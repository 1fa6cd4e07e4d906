import { beforeEach, describe, expect, test } from 'vitest';
import { defineDocumentation } from '../../../infra/local/documentation.ts';
import type { GatewayRequest } from '../../../infra/local/gateway/gatewayRequest.ts';

const local = {
  baseUrl: 'http://127.0.0.1:3000/v1',
  documentationAddress: 'http://127.0.0.1:3000/docs',
  apiKey: 'psk_local',
};
const page = { type: 'text/html', policy: "default-src 'none'", body: 'page' };

let builds = 0;
let answer: ReturnType<typeof defineDocumentation>;
beforeEach(() => {
  builds = 0;
  answer = defineDocumentation(local, async (given) => {
    builds += 1;
    expect(given).toBe(local);
    return new Map([['index.html', page]]);
  });
});

const send = (method: string, fullPath: string, host = '127.0.0.1:3000') =>
  answer({
    method,
    fullPath,
    headerLines: [['Host', host]],
    requestId: 'request',
  } as unknown as GatewayRequest);

describe('the documentation', () => {
  test.each(['/docs/', '/docs/index.html'])('is served at %s', async (path) => {
    expect(await send('GET', path)).toEqual({
      statusCode: 200,
      headers: {
        'Content-Type': 'text/html',
        'Content-Security-Policy': "default-src 'none'",
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        'Cross-Origin-Resource-Policy': 'same-origin',
      },
      body: 'page',
    });
    expect(await send('HEAD', path)).toMatchObject({ statusCode: 200 });
  });

  test('is led to from its address without a slash', async () => {
    const headers = { Location: '/docs/' };
    expect(await send('GET', '/docs')).toMatchObject({ statusCode: 302, headers });
    expect(builds).toBe(0);
  });

  test('is built once, and not before a page of it is asked for', async () => {
    for (const path of ['/', '/docsx', '/doc', '/favicon.ico']) {
      expect(await send('GET', path)).toBeUndefined();
    }
    expect(builds).toBe(0);
    await Promise.all([send('GET', '/docs/'), send('GET', '/docs/index.html')]);
    expect(builds).toBe(1);
  });

  test('leaves paths that it does not have to the gateway', async () => {
    for (const path of ['/docs/nothing.html', '/docs/../index.html', '/docs//']) {
      expect(await send('GET', path)).toBeUndefined();
    }
  });

  test.each(['localhost:3000', '[::1]:3000'])('answers to the name %s', async (host) => {
    expect(await send('GET', '/docs/', host)).toMatchObject({ statusCode: 200 });
  });

  test('does not answer to another name, which may have been led here to read the key', async () => {
    for (const path of ['/docs', '/docs/', '/docs/index.html', '/docs/nothing.html']) {
      const refused = await send('GET', path, 'petstore.example:3000');
      expect(refused?.statusCode).toBe(403);
      expect(JSON.parse(String(refused?.body))).toEqual({
        code: 'forbidden',
        message: 'This answers only to 127.0.0.1, localhost and [::1] in the Host header.',
        status: 403,
      });
    }
    expect(builds).toBe(0);
    expect(await send('GET', '/', 'petstore.example:3000')).toBeUndefined();
  });

  test('is only read', async () => {
    expect(await send('POST', '/docs/')).toMatchObject({
      statusCode: 405,
      headers: { Allow: 'GET, HEAD' },
    });
  });
});
