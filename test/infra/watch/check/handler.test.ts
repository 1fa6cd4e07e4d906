import { X509Certificate } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../../../infra/local/engine/loopback.ts';
import { findFirstSunset } from '../../../../infra/watch/check/daysLeft.ts';
import { makeCertificate } from '../../../support/faults/certificate.ts';
import { startAws } from '../../ops/aws.ts';

const day = 86_400_000;
const inDays = (days: number) => ({ S: new Date(Date.now() + days * day).toISOString() });

let handler: () => Promise<void>;
let checkService: (address: string, apiKey: string, ca?: string) => Promise<Date | undefined>;
let parameter: () => unknown;
let baseAddress: string;
const toParameters = (key: string) => ({
  Parameters: [
    { Name: '/petstore-production/check-key', Value: key },
    { Name: '/petstore-production/base-address', Value: baseAddress },
  ],
});
const aws = await startAws({
  GetParameters: () => parameter(),
  Scan: () => ({
    Items: [{ expiresAt: inDays(40) }, { expiresAt: inDays(12) }, { expiresAt: inDays(-3) }],
  }),
});
const service = createServer(({ headers }, response) => {
  response.writeHead(headers.authorization === 'Bearer psk_check' ? 200 : 401).end('[]');
});
beforeAll(async () => {
  const variables = {
    ...aws.variables,
    ADDRESS_PARAMETER: '/petstore-production/base-address',
    KEY_PARAMETER: '/petstore-production/check-key',
    API_KEYS_TABLE: 'keys',
    NAMESPACE: 'petstore-production',
    // What an earlier file's local stage left in this process.
    AWS_ENDPOINT_URL_DYNAMODB: undefined,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  baseAddress = `http://127.0.0.1:${await listen(service, 0, '')}/v1`;
  // The module reads its variables when it is loaded.
  ({ handler, checkService } = await import('../../../../infra/watch/check/handler.ts'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  aws.close();
  service.close();
});

it('calls the service with the key from its parameter, and writes down how many days are left', async () => {
  parameter = () => toParameters('psk_check');
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await handler();
  const stdout = write.mock.calls.map(([chunk]) => chunk).join('');
  write.mockRestore();
  const Names = ['/petstore-production/base-address', '/petstore-production/check-key'];
  expect(aws.inputsOf('GetParameters')).toEqual([{ Names, WithDecryption: true }]);
  const { _aws, keyDays, sunsetDays, ...others } = JSON.parse(stdout);
  expect(others).toEqual({});
  expect(keyDays).toBeCloseTo(12, 1);
  expect(sunsetDays).toBeCloseTo((Number(findFirstSunset()) - Date.now()) / day, 1);
  expect(_aws.CloudWatchMetrics).toEqual([
    {
      Namespace: 'petstore-production',
      Dimensions: [[]],
      Metrics: [{ Name: 'keyDays' }, { Name: 'sunsetDays' }],
    },
  ]);
  expect(stdout).not.toContain('psk_');
});

it.each([
  ['its key is not valid', () => toParameters('psk_other'), /answered 401/],
  [
    'it has no key',
    () => ({ InvalidParameters: ['/petstore-production/check-key'] }),
    /There is no parameter \/petstore-production\/check-key\./,
  ],
])('fails when %s', async (_, value, told) => {
  parameter = value;
  const failure = await handler().then(() => expect.fail('passed'), inspect);
  expect(failure).toMatch(told);
  expect(failure).not.toContain('psk_');
});

it('asks only for keys that nobody has ended or replaced', () => {
  for (const { FilterExpression } of aws.inputsOf('Scan')) {
    expect(FilterExpression).toContain('attribute_not_exists(revokedAt)');
    expect(FilterExpression).toContain('attribute_not_exists(successorId)');
  }
});

const apiKey = 'psk_secret';

/** The port of a server whose connections end with the test. */
function start(server: Server): Promise<number> {
  onTestFinished(() => server.closeAllConnections());
  return listen(server, 0, '');
}

async function check(listener: RequestListener) {
  const port = await start(createServer(listener));
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
  ])('fails at %i %s, and says what came, but not its key', async (status, body) => {
    const failed = check((_, response) => {
      response.writeHead(status, { 'X-Request-Id': 'request-1' }).end(body);
    });
    const { message } = await failed.then(
      () => expect.fail('passed'),
      (error: Error) => error,
    );
    const told = `GET /v1/inventory answered ${status} (request id request-1): ${body}`;
    expect(message).toContain(told);
    expect(message).not.toContain(apiKey);
  });

  it('fails where nobody answers, or the connection breaks', async () => {
    await expect(checkService('http://127.0.0.1:1/v1', apiKey)).rejects.toThrow(
      /^http:\/\/127\.0\.0\.1:1\/v1 gave no answer: .*ECONNREFUSED/,
    );
    await expect(check((_, response) => response.destroy())).rejects.toThrow(/gave no answer/);
  });
});

it('tells when the certificate ends, and fails at one that it does not trust', async () => {
  const { key, cert } = makeCertificate();
  const started = createSecureServer({ key, cert }, (_, response) => response.end('[]'));
  const address = `https://127.0.0.1:${await start(started as unknown as Server)}/v1`;
  const certificateEnd = await checkService(address, apiKey, cert);
  expect(certificateEnd).toEqual(new Date(new X509Certificate(cert).validTo));
  await expect(checkService(address, apiKey)).rejects.toThrow(/self-signed certificate/);
});
