import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { findFirstSunset } from '../../../../infra/watch/check/daysLeft.ts';
import { AwsError, startAws } from '../../ops/aws.ts';

const day = 86_400_000;
const inDays = (days: number) => ({ S: new Date(Date.now() + days * day).toISOString() });

let handler: () => Promise<void>;
let parameter: () => unknown;
const aws = await startAws({
  GetParameter: () => parameter(),
  Scan: () => ({
    Items: [{ expiresAt: inDays(40) }, { expiresAt: inDays(12) }, { expiresAt: inDays(-3) }],
  }),
});
const service = createServer(({ headers }, response) => {
  response.writeHead(headers.authorization === 'Bearer psk_check' ? 200 : 401).end('[]');
});
beforeAll(async () => {
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  const variables = {
    ...aws.variables,
    BASE_ADDRESS: `http://127.0.0.1:${(service.address() as AddressInfo).port}/v1`,
    KEY_PARAMETER: '/petstore-production/check-key',
    API_KEYS_TABLE: 'keys',
    NAMESPACE: 'petstore-production',
    // What an earlier file's local stage left in this process.
    AWS_ENDPOINT_URL_DYNAMODB: undefined,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  // The module reads its variables when it is loaded.
  ({ handler } = await import('../../../../infra/watch/check/handler.ts'));
});
afterAll(() => {
  vi.unstubAllEnvs();
  aws.close();
  service.close();
});

it('calls the service with the key from its parameter, and writes down how many days are left', async () => {
  parameter = () => ({ Parameter: { Value: 'psk_check' } });
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await handler();
  const stdout = write.mock.calls.map(([chunk]) => chunk).join('');
  write.mockRestore();
  expect(aws.inputsOf('GetParameter')).toEqual([
    { Name: '/petstore-production/check-key', WithDecryption: true },
  ]);
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
  ['its key is not valid', () => ({ Parameter: { Value: 'psk_other' } }), /answered 401/],
  [
    'it has no key',
    () => {
      throw new AwsError('ParameterNotFound', 'none');
    },
    /ParameterNotFound/,
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
