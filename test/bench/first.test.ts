import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { makeCertificate } from '../support/faults/certificate.ts';
import { toCold } from './parts/first.ts';

it('gives a request the share of a processor that its memory buys, and INIT a whole one', () => {
  expect(toCold({ init: 33, first: 39 }, 512)).toBeCloseTo(33 + (39 * 1_769) / 512);
  expect(toCold({ init: 33, first: 39 }, 3_008)).toBe(72);
});

it('makes a certificate that whoever is told of it trusts, and nobody else', async () => {
  const { key, cert } = makeCertificate();
  const server = createServer({ key, cert }, (_, response) => response.end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const ask = (ca?: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, agent: false, ...(ca !== undefined && { ca }) };
      get(options, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
  await expect(ask(cert)).resolves.toBe(200);
  await expect(ask()).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  server.close();
  server.closeAllConnections();
});
