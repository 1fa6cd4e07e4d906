import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPetstoreClient } from '../../../shared/client/index.ts';
import { findChromium, launchChromium } from '../../browser/chromium.ts';
import { openLocalTarget } from '../localTarget.ts';
import type { ConformanceTarget } from '../target.ts';

/** What asks for compressed lists by itself, or when told to, can read what it gets. */
describe('a compressed list', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    target = await openLocalTarget();
  });
  afterAll(() => target?.close());

  it.each([undefined, 'gzip', 'zstd'])('is read by fetch, which sends %s', async (accepted) => {
    const response = await fetch(`${target.baseUrl}/inventory`, {
      headers: {
        Authorization: `Bearer ${target.apiKey}`,
        ...(accepted !== undefined && { 'Accept-Encoding': accepted }),
      },
    });
    expect(response.headers.get('Content-Encoding')).toBe(accepted ?? 'gzip');
    expect(await response.json()).toHaveLength(target.fixtures.inventory.length);
  });

  it('is read by the client, whole and streamed', async () => {
    const { baseUrl, apiKey } = target;
    const client = createPetstoreClient({ baseUrl, apiKey });
    expect((await client.listInventory()).items).toHaveLength(target.fixtures.inventory.length);
    const streamed = [];
    for await (const item of client.streamInventory()) streamed.push(item);
    expect(streamed).toHaveLength(target.fixtures.inventory.length);
  });

  // Over TLS or on the machine itself, it names zstd with the others.
  it.runIf(findChromium())('comes to Chromium as zstd, and is read there', async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      // Of the same origin, and without a policy of its own.
      await page.goto(`${target.baseUrl}/nothing`);
      const found = await page.evaluate(
        async ({ baseUrl, apiKey }) => {
          const headers = { Authorization: `Bearer ${apiKey}` };
          const response = await fetch(`${baseUrl}/inventory`, { headers });
          const { length } = (await response.json()) as unknown[];
          return { coding: response.headers.get('Content-Encoding'), length };
        },
        { baseUrl: target.baseUrl, apiKey: target.apiKey },
      );
      expect(found).toEqual({ coding: 'zstd', length: target.fixtures.inventory.length });
    } finally {
      await browser.close();
    }
  });
});
