import { X509Certificate } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { formatMetrics } from '../../../../../infra/deploy/watch/check/checkMetrics.ts';
import type { checkService as checkServiceOf } from '../../../../../infra/deploy/watch/check/handler.ts';
import { gatewayErrors } from '../../../../../infra/gateway/gatewayErrors.ts';
import { listen } from '../../../../../infra/local/engine/loopback.ts';
import { type ErrorCode, toErrorBody } from '../../../../../shared/contract/errorBody.ts';
import { makeCertificate } from '../../../../support/faults/certificate.ts';
import { skipPauses } from '../../../../support/faults/clock.ts';
import { AwsError, serve, startAws } from '../../../ops/aws.ts';

skipPauses();

const day = 86_400_000;
const now = Date.parse('2026-11-23T12:00:00Z');
const inDays = (days: number) => ({ S: new Date(now + days * day).toISOString() });
const names = ['/petstore-production/base-address', '/petstore-production/check-key'];

type Respond = (method: string, url: string, isRepeated: boolean) => [number, string];
/** The response of each healthy operation. */
const right: Respond = (method, url) => {
  const toError = (code: ErrorCode) => JSON.stringify(toErrorBody(code, 'no'));
  if (method !== 'GET') return [403, toError('forbidden')];
  const [, id] = /\/(-?\d+)$/.exec(url) ?? [];
  if (id === undefined) return [200, '[{"id":1}]'];
  return id.length > 3 ? [404, toError('not_found')] : [200, `{"petId":${id},"quantity":3}`];
};
/** Gives some requests another response. */
const other =
  (some: RegExp, status: number, body: string): Respond =>
  (method, url, isRepeated) =>
    some.test(`${method} ${url}`) ? [status, body] : right(method, url, isRepeated);

const toIds = (name: string, N: string) => [{ [name]: { N } }];
const items = { stock: toIds('p', '7'), pets: toIds('id', '8'), orders: toIds('id', '9') };
/** A stage in which everything is right. */
const healthy = {
  address: undefined as string | undefined,
  apiKey: 'psk_check' as string | undefined,
  keys: [{ createdAt: inDays(-300), expiresAt: inDays(40) }],
  ItemCount: 1_000,
  items: items as Readonly<Record<string, unknown[]>>,
  /** The response to a Scan, in place of the items. */
  toPage: (_name: string, _from: unknown): object | undefined => undefined,
  respond: right,
  /** A call of AWS. */
  denied: '',
};
let stage = healthy;

const aws = await startAws({
  GetParameters() {
    const { address = `${service.address}/v1`, apiKey } = stage;
    const found = [address, apiKey].map((Value, index) => ({ Name: names[index], Value }));
    return { Parameters: found.filter(({ Value }) => Value) };
  },
  Scan: ({ TableName, ExclusiveStartKey }) =>
    stage.toPage(String(TableName), ExclusiveStartKey) ?? {
      Items: TableName === 'keys' ? stage.keys : stage.items[String(TableName)],
    },
  DescribeTable: () => ({ Table: { ItemCount: stage.ItemCount } }),
});
let asked: string[];
const listener: RequestListener = ({ method = '', url = '', headers }, response) => {
  const { authorization, 'user-agent': agent, 'if-none-match': tag = '' } = headers;
  const line = [method, url, authorization, agent, tag].join(' ').trim();
  const isRepeated = asked.includes(line);
  asked.push(line);
  const isKnown = authorization === `Bearer ${healthy.apiKey}`;
  const [status, body] = isKnown ? stage.respond(method, url, isRepeated) : [401, 'no'];
  return response.writeHead(status, { 'X-Request-Id': 'request-1' }).end(body);
};
const service = await serve(listener);

let handler: () => Promise<void>;
let checkService: typeof checkServiceOf;
beforeAll(async () => {
  const variables = {
    ...aws.variables,
    ADDRESS_PARAMETER: names[0],
    KEY_PARAMETER: names[1],
    // The others are turned off.
    OPERATIONS: 'listInventory,getInventoryEntry,updateInventory,listOrders',
    API_KEYS_TABLE: 'keys',
    INVENTORY_TABLE: 'stock',
    PETS_TABLE: 'pets',
    ORDERS_TABLE: 'orders',
    NAMESPACE: 'petstore-production',
    // A local stage may have set it in this process.
    AWS_ENDPOINT_URL_DYNAMODB: undefined,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  // The module reads its variables when it loads.
  ({ handler, checkService } = await import('../../../../../infra/deploy/watch/check/handler.ts'));
});
beforeEach(() => {
  stage = healthy;
  asked = [];
});
afterAll(() => {
  vi.unstubAllEnvs();
  aws.close();
  service[Symbol.dispose]();
});

const keysOfAllKinds = [
  { createdAt: { S: 'unknown' }, expiresAt: inDays(12) },
  { createdAt: inDays(-300), expiresAt: { S: 'never' } },
  { createdAt: inDays(-5), expiresAt: inDays(26) },
  // Thirty days in all: a key made for a short time.
  { createdAt: inDays(-25), expiresAt: inDays(5) },
  { createdAt: inDays(-300), expiresAt: inDays(-3) },
];
const twoPages: typeof healthy.toPage = (name, from) =>
  name === 'stock' && !from ? { LastEvaluatedKey: { p: { N: '1' } } } : undefined;
const refuseStock: typeof healthy.toPage = (name) => {
  if (name === 'stock') throw new AwsError('ResourceNotFoundException', 'not found');
  return undefined;
};
const isNew = { items: {}, ItemCount: 0 };
const notFound = JSON.stringify(gatewayErrors.RESOURCE_NOT_FOUND);

const situations: [what: string, change: Partial<typeof healthy>][] = [
  ['Nothing is wrong, and nothing ends soon', {}],
  ['A key that was not made for some days only ends in twelve days', { keys: keysOfAllKinds }],
  ['Its key is invalid', { apiKey: 'psk_other' }],
  ['It has no key', { apiKey: undefined }],
  ['It may not read them', { denied: 'GetParameters' }],
  [
    'A table with items until lately is empty',
    { items: { ...items, stock: [] }, ItemCount: 7, respond: other(/inventory\?/, 200, '[]') },
  ],
  ['A new stage has no items, and empty lists', { ...isNew, respond: other(/limit/, 200, '[]') }],
  [
    'The item of a table is on its second page, and cannot be read',
    { toPage: twoPages, respond: other(/inventory\/7/, 503, '{"petId":7}') },
  ],
  [
    'A table cannot be read, and an operation fails',
    { toPage: refuseStock, respond: other(/PATCH/, 502, 'no') },
  ],
  ['A list is not JSON', { respond: other(/inventory\?/, 200, '<html>') }],
  ['An unused id has an entry', { ...isNew, respond: other(/GET.*y\/-/, 200, '{"petId":1}') }],
  [
    'The gateway knows no path of entries',
    { ...isNew, respond: other(/GET.*y\/-/, 404, notFound) },
  ],
  ['An update with a read key succeeds', { respond: other(/PATCH/, 200, '{"petId":1}') }],
  [
    'Each operation fails once',
    { respond: (method, url, again) => (again ? right(method, url, again) : [503, 'no']) },
  ],
  ['Nobody listens', { address: 'http://127.0.0.1:1/v1' }],
  [
    'One operation is 429, which is no failure, and the others fail',
    { respond: (method) => [method === 'PATCH' ? 429 : 500, 'no'] },
  ],
];

it('calls operations and AWS, writes metrics, and fails with a line for each problem', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now });
  onTestFinished(() => void vi.useRealTimers());
  const screens: string[] = [];
  for (const [what, change] of situations) {
    stage = { ...healthy, ...change };
    aws.denied = stage.denied;
    asked = [];
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const error = await handler().then(
      () => undefined,
      (reason: Error) => reason,
    );
    const stdout = write.mock.calls.map(([chunk]) => chunk).join('');
    write.mockRestore();
    expect(stdout + inspect(error), what).not.toContain('psk_');
    if (screens.length === 0) {
      const calls = aws.calls
        .map(({ operation, input }) => `${operation} ${JSON.stringify(input)}`)
        // Only some operations read it.
        .filter((line) => !line.includes('"pets"'));
      screens.push(...calls.sort(), ...asked.sort());
    }
    const found = [stdout.trim(), ...(error?.message.split('\n') ?? [])].filter(Boolean);
    screens.push(`${what} → ${[`${asked.length} requests`, ...found].join('; ')}`);
  }
  const text = `${screens.join('\n')}\n`.replaceAll(service.address, 'http://service');
  await expect(text).toMatchFileSnapshot('situations.txt');
});

it('returns the end of the certificate, and fails at an untrusted one', async () => {
  const { key, cert } = makeCertificate();
  const secure = createServer({ key, cert }, listener);
  onTestFinished(() => secure.closeAllConnections());
  const address = `https://127.0.0.1:${await listen(secure as never, 0, '')}/v1`;
  const { problems: untrusted } = await checkService(address, 'psk_check');
  expect(untrusted[0]).toMatch(/self-signed certificate/);
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, cert]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  const { certificate, problems } = await checkService(address, 'psk_check');
  expect(problems).toEqual([]);
  expect(certificate).toEqual(new Date(new X509Certificate(cert).validTo));
});

it('counts a certificate that ends in this very moment', () => {
  const metrics = { certificateDays: 0, keyDays: undefined, checkThrottled: undefined };
  const { _aws, ...values } = JSON.parse(formatMetrics('petstore-production', metrics) ?? '{}');
  expect(values).toEqual({ certificateDays: 0 });
  expect(_aws.CloudWatchMetrics[0].Metrics).toEqual([{ Name: 'certificateDays' }]);
});
