import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkService } from '../../../../infra/watch/check/checkService.ts';

const apiKey = 'psk_secret';
let server: Server | undefined;
afterEach(() => server?.closeAllConnections());

async function listen(started: Server): Promise<number> {
  server = started.listen(0, '127.0.0.1');
  await once(started, 'listening');
  return (started.address() as AddressInfo).port;
}

async function check(listener: RequestListener) {
  const port = await listen(createServer(listener));
  return checkService(`http://127.0.0.1:${port}/v1`, apiKey);
}

describe('the check from outside', () => {
  it('lists one entry with its key', async () => {
    const asked: unknown[] = [];
    await check(({ url, headers }, response) => {
      asked.push([url, headers.authorization]);
      response.end('[{"petId":1,"quantity":2,"status":"sold"}]');
    });
    expect(asked).toEqual([['/v1/inventory?limit=1', `Bearer ${apiKey}`]]);
  });

  it.each([
    [401, '{"code":"unauthorized"}'],
    [503, '{"code":"service_unavailable"}'],
    [200, '<html>'],
    [200, '{"petId":1}'],
    [200, ''],
  ])('fails at %i %s, and says what came', async (status, body) => {
    const failed = check((_, response) => {
      response.writeHead(status, { 'X-Request-Id': 'request-1' }).end(body);
    });
    await expect(failed).rejects.toThrow(
      `GET /v1/inventory answered ${status} (request id request-1): ${body}`,
    );
  });

  it('fails where nobody answers, or the connection breaks', async () => {
    await expect(checkService('http://127.0.0.1:1/v1', apiKey)).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1\/v1 gave no answer: .*ECONNREFUSED/,
    );
    await expect(check((_, response) => response.destroy())).rejects.toThrow(/gave no answer/);
  });

  it('never has its key in what it says', async () => {
    const { message } = await check((_, response) => response.writeHead(500).end()).then(
      () => expect.fail('passed'),
      (error: Error) => error,
    );
    expect(message).not.toContain(apiKey);
  });
});

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

describe.runIf(hasOpenssl)('over TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-check-'));
  const [keyFile, certificateFile] = ['key.pem', 'cert.pem'].map((name) => join(folder, name));
  const command = 'req -x509 -newkey rsa:2048 -nodes -days 20 -subj /CN=localhost';
  const name = '-addext subjectAltName=DNS:localhost';
  const options = [
    ...`${command} ${name} -keyout`.split(' '),
    `${keyFile}`,
    '-out',
    `${certificateFile}`,
  ];
  execFileSync('openssl', options, { stdio: 'ignore' });
  const [key, cert] = [keyFile, certificateFile].map((file) => readFileSync(`${file}`, 'utf8'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('tells when the certificate ends, and fails at one that it does not trust', async () => {
    const started = createSecureServer({ key, cert }, (_, response) => response.end('[]'));
    const address = `https://localhost:${await listen(started as unknown as Server)}/v1`;
    const { certificateEnd } = await checkService(address, apiKey, cert);
    const days = (Number(certificateEnd) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(19.9);
    expect(days).toBeLessThanOrEqual(20);
    await expect(checkService(address, apiKey)).rejects.toThrow(/self-signed certificate/);
  });
});
