import { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { gatewayErrors } from '../../../../infra/gateway/gatewayErrors.ts';
import { listen } from '../../../../infra/local/engine/loopback.ts';
import { toRequest } from '../../../../infra/service/hook/probes.ts';
import type { checkService as checkServiceOf } from '../../../../infra/watch/check/handler.ts';
import { type ErrorCode, toErrorBody } from '../../../../shared/contract/errorBody.ts';
import { operationIds } from '../../../../shared/contract/operations.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import { makeCertificate } from '../../../support/faults/certificate.ts';
import { skipPauses } from '../../../support/faults/clock.ts';
import { AwsError, serve, startAws } from '../../ops/aws.ts';

skipPauses();

const day = 86_400_000;
// One clock, so that 25 days before and 5 days after are 30 to the millisecond.
const now = Date.now();
const inDays = (days: number) => ({ S: new Date(now + days * day).toISOString() });
const names = ['/petstore-production/base-address', '/petstore-production/check-key'];

let handler: () => Promise<void>;
let checkService: typeof checkServiceOf;
let values: (string | undefined)[];
let keys: unknown[];
let ItemCount: number;
/** The items of each table, by its name. */
let items: Record<string, unknown[]>;
/** The response to a Scan of a table, in place of its items. */
let scanned: (tableName: string) => unknown;
const aws = await startAws({
  GetParameters: () => {
    if (values.length === 0) throw new AwsError('AccessDeniedException', 'not allowed');
    const found = names.map((Name, index) => ({ Name, Value: values[index] }));
    return { Parameters: found.filter(({ Value }) => Value !== undefined) };
  },
  Scan: ({ TableName = '' }) =>
    scanned(String(TableName)) ?? { Items: TableName === 'keys' ? keys : items[String(TableName)] },
  DescribeTable: () => ({ Table: { ItemCount } }),
});
type Respond = (method: string, url: string) => [status: number, body: string];
/** The response of each healthy operation. */
const right: Respond = (method, url) => {
  const toError = (code: ErrorCode) => JSON.stringify(toErrorBody(code, 'no'));
  if (method !== 'GET') return [403, toError('forbidden')];
  const [, id] = /\/(-?\d+)$/.exec(url) ?? [];
  if (id === undefined) return [200, '[{"id":1}]'];
  return id.length > 3 ? [404, toError('not_found')] : [200, `{"id":${id},"name":"Rex"}`];
};
/** The service responds so; without a response, the connection breaks. */
let respond: Respond | undefined;
/** Gives some requests another response. */
function change(some: RegExp, status: number, body = ''): void {
  respond = (method, url) => (some.test(`${method} ${url}`) ? [status, body] : right(method, url));
}
const apiKey = 'psk_check';
let asked: { method: string; path: string; headers: IncomingHttpHeaders }[];
const listener: RequestListener = ({ method = '', url = '', headers }, response) => {
  asked.push({ method, path: url.replace(/\?.*/, ''), headers });
  if (!respond) return response.destroy();
  const isValid = headers.authorization === `Bearer ${apiKey}`;
  const [status, body] = isValid ? respond(method, url) : [401, 'no'];
  return response.writeHead(status, { 'X-Request-Id': 'request-1' }).end(body);
};
const service = await serve(listener);
const toPaths = () => asked.map(({ path }) => path).sort();
function stubVariables(): void {
  const variables = {
    ...aws.variables,
    ADDRESS_PARAMETER: names[0],
    KEY_PARAMETER: names[1],
    OPERATIONS: 'listInventory,getPet,updateInventory',
    API_KEYS_TABLE: 'keys',
    INVENTORY_TABLE: 'stock',
    PETS_TABLE: 'pets',
    ORDERS_TABLE: 'orders',
    INVENTORY_ENTRIES: '1000',
    NAMESPACE: 'petstore-production',
    // A local stage may have set it in this process.
    AWS_ENDPOINT_URL_DYNAMODB: undefined,
  };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}
beforeAll(async () => {
  stubVariables();
  // The module reads its variables when it loads.
  ({ handler, checkService } = await import('../../../../infra/watch/check/handler.ts'));
});
beforeEach(() => {
  stubVariables();
  values = [`${service.address}/v1`, apiKey];
  respond = right;
  asked = [];
  keys = [];
  ItemCount = 1_000;
  scanned = () => undefined;
  items = { stock: [{ p: { N: '7' } }], pets: [{ id: { N: '8' } }], orders: [{ id: { N: '9' } }] };
});
afterAll(() => {
  vi.unstubAllEnvs();
  aws.close();
  service[Symbol.dispose]();
});

/** Runs the check. @returns its metrics and its error */
async function runHandler() {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const failure = await handler().then(() => '', inspect);
  const stdout = write.mock.calls.map(([chunk]) => chunk).join('');
  write.mockRestore();
  expect(stdout + failure).not.toContain('psk_');
  return { failure, stdout, line: stdout === '' ? undefined : JSON.parse(stdout) };
}

it('reads address and key with one call, and writes no metric if nothing ends soon', async () => {
  keys = [{ createdAt: inDays(-300), expiresAt: inDays(40) }];
  expect(await runHandler()).toMatchObject({ failure: '', stdout: '' });
  expect(aws.inputsOf('GetParameters')).toEqual([{ Names: names, WithDecryption: true }]);
  // All operations that are not turned off, with an item of each table.
  expect(toPaths()).toEqual(['/v1/inventory', expect.any(String), '/v1/pets/8']);
  expect(aws.inputsOf('Scan')).toContainEqual(
    expect.objectContaining({ TableName: 'pets', ProjectionExpression: 'id', Limit: 1 }),
  );
});

it('writes the days left of the first ending key that nobody revoked, replaced, or made for some days only', async () => {
  keys = [
    { createdAt: { S: 'unknown' }, expiresAt: inDays(12) },
    { createdAt: inDays(-300), expiresAt: { S: 'never' } },
    { createdAt: inDays(-5), expiresAt: inDays(26) },
    // Thirty days in all: a key made for a short time.
    { createdAt: inDays(-25), expiresAt: inDays(5) },
    { createdAt: inDays(-300), expiresAt: inDays(-3) },
  ];
  const { line } = await runHandler();
  const scan = aws.inputsOf('Scan').find(({ TableName }) => TableName === 'keys');
  expect(scan?.FilterExpression).toMatch(
    /attribute_not_exists\(revokedAt\) AND attribute_not_exists\(successorId\)/,
  );
  const { _aws, keyDays, ...others } = line;
  expect(others).toEqual({});
  expect(keyDays).toBeCloseTo(12, 1);
  expect(_aws.CloudWatchMetrics).toEqual([
    { Namespace: 'petstore-production', Dimensions: [[]], Metrics: [{ Name: 'keyDays' }] },
  ]);
});

it.each<[string, () => unknown, RegExp]>([
  ['its key is invalid', () => values.splice(1, 1, 'psk_other'), /getPet: GET .* with 401/],
  ['it has no key', () => values.splice(1, 1), /parameter \S+\/check-key is missing/],
  ['it has no address', () => values.splice(0, 1, undefined), /\S+\/base-address is missing/],
  ['it may not read them', () => values.splice(0), /AccessDeniedException/],
])('fails if %s', async (_, change, told) => {
  change();
  expect((await runHandler()).failure).toMatch(told);
});

describe('the data', () => {
  it('is wrong: the service has another pet', async () => {
    change(/pets/, 200, '{"id":81,"name":"Tom"}');
    expect((await runHandler()).failure).toMatch(/getPet: GET \/v1\/pets\/8 .* with 200/);
  });

  it('is gone: a table with items until lately is empty', async () => {
    items.stock = [];
    ItemCount = 7;
    change(/inventory\?/, 200, '[]');
    expect((await runHandler()).failure).toMatch(
      /The table stock is empty, and had 7 items at most six hours ago/,
    );
  });

  it('is none in a new stage, whose lists are empty', async () => {
    items = {};
    ItemCount = 0;
    change(/limit/, 200, '[]');
    expect((await runHandler()).failure).toBe('');
  });

  it('is the first item after an empty page', async () => {
    const pages = [{ LastEvaluatedKey: { id: { N: '1' } } }, { Items: [{ id: { N: '8' } }] }];
    items.pets = undefined as never;
    scanned = (name) => (name === 'pets' ? pages.shift() : undefined);
    expect((await runHandler()).failure).toBe('');
    expect(toPaths()).toContain('/v1/pets/8');
  });

  it('is unknown if a table cannot be read, which is a failure beside the others', async () => {
    scanned = (name) => {
      if (name === 'pets') throw new AwsError('ResourceNotFoundException', 'not found');
    };
    change(/PATCH/, 502);
    const { failure } = await runHandler();
    expect(failure).toMatch(/updateInventory: .* 502/);
    expect(failure).toMatch(/The table pets cannot be read: ResourceNotFoundException: not found/);
  });
});

it.each([
  ['GET /pets', '/pets', 'items'],
  ['GET /store/orders/{orderId}', '/store/orders/9', { id: '9' }],
  // Another list, which may be empty.
  ['GET /pets/lost', '/pets/lost', 'list'],
  // A pet may have no photos.
  ['GET /pets/{petId}/photos', '/pets/-8070450532247928833/photos', 'not_found'],
  ['POST /store/orders', '/store/orders', 'forbidden'],
])('derives the request to a new operation: %s', (operation, path, expected) => {
  const [method, named] = operation.split(' ') as ['GET' | 'POST', `/${string}`];
  const permission = method === 'GET' ? 'read' : 'write';
  const request = toRequest({ method, path: named, permission }, { pets: '8', orders: '9' });
  expect(request).toMatchObject({ path, expected });
});

/** Calls the service, without its tables. */
const check = () => checkService(String(values[0]), apiKey);

describe('the scheduled check', () => {
  it('calls each operation of the service once with a read key, and finds nothing wrong', async () => {
    const target = await openLocalTarget();
    onTestFinished(() => target.close());
    const lines = vi.spyOn(console, 'info').mockReturnValue();
    const { problems } = await checkService(target.baseUrl, target.readOnlyApiKey);
    const called = lines.mock.calls.map(([line]) => Object(line).operation);
    lines.mockRestore();
    expect(problems).toEqual([]);
    expect(called.sort()).toEqual([...operationIds].sort());
  });

  it('sends its key and its name, and no write that could change anything', async () => {
    expect(await check()).toEqual({ certificate: undefined, throttled: 0, problems: [] });
    expect(asked).toHaveLength(operationIds.length);
    for (const { method, headers } of asked) {
      const { authorization, 'user-agent': agent, 'if-none-match': tag } = headers;
      expect([authorization, agent]).toEqual([`Bearer ${apiKey}`, 'petstore-check']);
      if (method !== 'GET') expect(tag).toBe('*');
    }
  });

  const refusedByGateway = '{"code":"forbidden","message":"This request is not allowed."}';
  it.each([
    ['GET', /inventory\?/, 503, '{"code":"service_unavailable"}', 'listInventory'],
    ['GET', /inventory\?/, 200, '<html>', 'listInventory'],
    ['GET', /inventory\?/, 200, '{"petId":1}', 'listInventory'],
    ['GET', /orders/, 500, '', 'listOrders'],
    ['GET', /pets\/-/, 200, '{"id":1}', 'getPet'],
    ['GET', /pets\/-/, 404, JSON.stringify(gatewayErrors.RESOURCE_NOT_FOUND), 'getPet'],
    ['PATCH', /inventory/, 502, '{"code":"internal_error"}', 'updateInventory'],
    ['PATCH', /inventory/, 200, '{"petId":1}', 'updateInventory'],
    ['PATCH', /inventory/, 403, refusedByGateway, 'updateInventory'],
  ])(
    'names the operation that fails twice: %s %s %i %s',
    async (method, path, status, body, id) => {
      change(new RegExp(`^${method} .*${path.source}`), status, body);
      const { problems } = await check();
      expect(asked).toHaveLength(operationIds.length + 1);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(`${id}: ${method} /v1/`);
      expect(problems[0]).toContain(` responded with ${status} (request id request-1): ${body}`);
      expect(problems[0]).not.toContain(apiKey);
    },
  );

  it('ignores a failure if the second attempt succeeds', async () => {
    const failed = new Set<string>();
    respond = (method, url) => (failed.has(url) ? right(method, url) : [503, `${failed.add(url)}`]);
    expect((await check()).problems).toEqual([]);
  });

  it('fails without a response, or if the connection breaks', async () => {
    const nobody = await checkService('http://127.0.0.1:1/v1', apiKey);
    expect(nobody.problems).toHaveLength(operationIds.length);
    expect(nobody.problems[0]).toMatch(
      /^listInventory: http:\/\/127\.0\.0\.1:1\/v1 did not respond: .*ECONNREFUSED/,
    );
    respond = undefined;
    expect((await check()).problems[0]).toMatch(/did not respond/);
  });
});

it('writes the 429 of a failing run, which is not a failure', async () => {
  respond = (method, url) =>
    method === 'PATCH' ? [429, ''] : url.includes('pets') ? [500, ''] : right(method, url);
  const { failure, line } = await runHandler();
  expect(failure).toMatch(/getPet: .* responded with 500/);
  expect(failure).not.toContain('updateInventory');
  expect(line.checkThrottled).toBe(1);
});

it('writes how many entries the inventory has above the planned number', async () => {
  ItemCount = 1_007;
  expect((await runHandler()).line).toMatchObject({ surplusEntries: 7 });
  expect(aws.inputsOf('DescribeTable').at(-1)).toEqual({ TableName: 'stock' });
});

it('returns the end of the certificate, and fails at an untrusted one', async () => {
  const { key, cert } = makeCertificate();
  const secure = createServer({ key, cert }, listener);
  onTestFinished(() => secure.closeAllConnections());
  const address = `https://127.0.0.1:${await listen(secure as never, 0, '')}/v1`;
  const { problems: untrusted } = await checkService(address, apiKey);
  expect(untrusted[0]).toMatch(/self-signed certificate/);
  const trusted = getCACertificates();
  setDefaultCACertificates([...trusted, cert]);
  onTestFinished(() => setDefaultCACertificates(trusted));
  const { certificate, problems } = await checkService(address, apiKey);
  expect(problems).toEqual([]);
  expect(certificate).toEqual(new Date(new X509Certificate(cert).validTo));
});
