import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { rows, type SmokeSettings, toMethodRows } from '../../../../infra/ops/smoke/rows.ts';
import { checkStage } from '../../../../infra/ops/smoke/runSmoke.ts';
import { petstore } from '../../../../infra/petstore.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import { type ConformanceTarget, fixtures } from '../../../conformance/target.ts';
import { describeStack, type Responses, serve, useAws } from '../aws.ts';
import { callOps, defineInterrupt, runOps } from '../opsProcess.ts';

interface FrontRequest {
  readonly method: string;
  /** Relative to the base address. */
  path: string;
  readonly headers: Headers;
}

interface FrontResponse {
  status: number;
  readonly headers: Headers;
  text: string;
}

/** A fault of a stage: it changes a request or a response. */
interface Fault {
  readonly ask?: (asked: FrontRequest) => void;
  readonly spoil?: (asked: FrontRequest, response: FrontResponse) => void;
}

let faults: readonly Fault[] = [];
/** What was sent and returned, such as `GET /inventory 200`. */
const exchanges: string[] = [];
const { fetch } = globalThis;

beforeAll(() => {
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const [base = '', path = ''] = url.split(/(?<=\/v1)/);
    const asked = { method: `${init.method}`, path, headers: new Headers(init.headers) };
    for (const { ask } of faults) ask?.(asked);
    const received = await fetch(base + asked.path, { ...init, headers: asked.headers });
    if (faults.length === 0) return received;
    const headers = new Headers(received.headers);
    const response = { status: received.status, headers, text: await received.text() };
    for (const { spoil } of faults) spoil?.(asked, response);
    exchanges.push(`${asked.method} ${path} ${response.status}`);
    return new Response(response.text || null, response);
  });
});
beforeEach(() => {
  faults = [];
  exchanges.length = 0;
});
afterAll(() => {
  vi.unstubAllGlobals();
});

/** Checks a stage, and takes apart what was printed. */
async function smoke(settings: Pick<SmokeSettings, 'baseUrl' | 'apiKey'> & Partial<SmokeSettings>) {
  const lines: string[] = [];
  const { signal } = new AbortController();
  const defaults = {
    ...{ timeout: 10_000, deadline: 60_000, signal, isLight: false },
    ...{ throttles: undefined, entry: undefined, origin: undefined, commits: undefined },
  };
  const passed = await checkStage({ ...defaults, ...settings }, (line) => lines.push(line));
  return {
    passed,
    text: lines.join('\n'),
    rowsThat: (outcome: 'passed' | 'FAILED') =>
      Object.keys(rows).filter((_, index) => lines[index]?.startsWith(outcome)),
    failures: lines.filter((line) => line.startsWith('FAILED')),
  };
}

const entry = '9007199254740993';
const write = 'updateInventory: writes the count of --entry back under its tag, once';
const wholeList = 'the whole list: is whole, and has the entries of the first page';
const entryRead = new RegExp(`^GET /inventory/${entry} 200$`);
const firstEntry = new RegExp(`\\{"petId":${fixtures.inventory[0]?.petId},[^}]*\\},`);

/** By row: the faults that it fails on. For what follows from the contract, of whichever operations there are. */
function plantInOperation(id: OperationId): Record<string, Fault[]> {
  const { method, path, permission, errors, query = {} }: Operation = operations[id];
  const pattern = path.replace(/\{\w+\}/, '-?\\d+');
  const success = new RegExp(`^${method} ${pattern}${'limit' in query ? '\\?limit=100' : ''} 200$`);
  const missing = new RegExp(`^${method} ${pattern.replace('+', '{15,}')} 404$`);
  const unauthorized = new RegExp(`^${method} ${pattern}\\b.* 401$`);
  const preflight = new RegExp(`^OPTIONS ${pattern}\\b`);
  return {
    ...(permission === 'read' && { [`${id}: returns 200`]: [spoil(success, fail)] }),
    ...('limit' in query && {
      [`${id}: refuses limit=smoke`]: [
        rewrite(`${path}?limit=smoke`, `${path}?limit=1`),
        spoil(new RegExp(`${path}\\?limit=s`), replace('code', 'a')),
      ],
    }),
    ...(errors.includes('not_found') && {
      [`${id}: returns 404 for an unknown id${permission === 'write' ? ', or 403 for a read key' : ''}`]:
        [spoil(missing, fail), spoil(missing, replace('not_', ''))],
    }),
    [`${id}: refuses no key, and the key with another secret`]: [
      spoil(unauthorized, drop('www-authenticate')),
      spoil(unauthorized, set('www-authenticate', 'Bearer realm="petstore"')),
      trustKeyIds(new RegExp(`^${method} ${pattern}\\b`)),
    ],
    [`${id}: lets pages of an allowed origin call it: the preflight needs no key`]: [
      spoil(preflight, set('access-control-allow-methods', 'TRACE')),
      spoil(preflight, set('access-control-allow-headers', 'Accept')),
      spoil(preflight, set('access-control-allow-origin', 'https://a.example')),
      spoil(preflight, drop('x-request-id')),
    ],
    ...Object.fromEntries(
      toMethodRows(path).map(([name]) => [
        name,
        [spoil(new RegExp(`^\\w+ ${pattern} 405$`), set('allow', 'TRACE'))],
      ]),
    ),
  };
}

const planted: Record<string, Fault[]> = {
  ...Object.assign({}, ...operationIds.map(plantInOperation)),
  'listInventory: gives each entry its tag with include=etag': [rewrite(/(,.*)include=etag/, '$1')],
  'getInventoryEntry: returns 304 while an entry has its tag': [
    { ask: ({ headers }) => headers.delete('if-none-match') },
    spoil(/^GET \/inventory\/-?\d+ 304$/, (response) => {
      response.status = 404;
      response.text = '{"code":"not_found","message":"There is none.","status":404}';
    }),
  ],
  [write]: [
    { ask: ({ headers }) => headers.delete('if-match') },
    { ask: ({ headers }) => headers.delete('idempotency-key') },
    spoil(/^PATCH .* 200$/, replace(/"quantity":\d+/, '"quantity":77')),
    spoil(/^PATCH .* 200$/, set('etag', '"other"')),
    spoil(/^PATCH .* 200$/, set('etag', 'W/"weak"')),
    {
      spoil({ method, headers }, response) {
        const tag = headers.get('if-match');
        if (method === 'PATCH' && tag && response.status === 200) set('etag', tag)(response);
      },
    },
    spoil(/^PATCH .* 412$/, set('etag', '"other"')),
    repeatTag(entryRead),
    spoil(entryRead, set('etag', 'W/"weak"')),
  ],
  'the gateway: returns 404 for an unknown path': [
    spoil(/smoke 404/, replace('not_found', 'forbidden')),
    spoil(/smoke 404/, set('retry-after', 'soon')),
  ],
  [wholeList]: [
    spoil(/^GET \/inventory 200/, replace(firstEntry, '')),
    spoil(/^GET \/inventory 200/, replace(/,\{[^{]*$/, '')),
    spoil(/^GET \/inventory 200/, fail),
    spoil(/^GET \/inventory 200/, lengthen(50)),
    spoil(/^GET \/inventory 200/, set('link', 'next')),
  ],
};

/** Rows with a fault each, at most one a batch; a list's is alone, since rows behind it need the list. */
const batches = Map.groupBy(
  Object.entries(planted).flatMap(([row, variants]) => {
    const [id = '', returns200] = row.split(': ');
    const isList =
      returns200 === 'returns 200' && !operations[id as OperationId].path.includes('{');
    return variants.map((fault, index) => ({ row, fault, batch: isList ? row : index }));
  }),
  ({ batch }) => batch,
);

describe('npx petstore smoke, of a stage with data', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    const inventory = fixtures.inventory.slice(0, 9);
    target = await openLocalTarget({ data: { ...fixtures, inventory } });
  });
  afterAll(() => target?.close());

  function run(...some: readonly Fault[]) {
    faults = some;
    const { baseUrl, apiKey, origin } = target;
    return smoke({ baseUrl, apiKey, entry, origin });
  }

  it('passes, and a fault is planted for each row', async () => {
    const { passed, rowsThat } = await run();
    expect(passed).toBe(true);
    expect(new Set(Object.keys(planted))).toEqual(new Set(rowsThat('passed')));
  });

  it.each([...batches])('fails in the rows alone that have faults: %s', async (_, batch) => {
    const { passed, text, rowsThat } = await run(...batch.map(({ fault }) => fault));
    expect(new Set(rowsThat('FAILED'))).toEqual(new Set(batch.map(({ row }) => row)));
    expect(passed).toBe(false);
    expect(text).not.toContain(target.apiKey.slice(4, 30));
  });

  it('passes behind a proxy that adds headers of its own, and extends others', async () => {
    const added = {
      ...{ age: '0', via: '1.1 cdn.example (CloudFront)', 'cf-ray': '8f2c1e0a6a6b-AMS' },
      ...{ server: 'cloudflare', 'alt-svc': 'h3=":443"', 'set-cookie': '__cf_bm=a; Secure' },
      ...{ 'strict-transport-security': 'max-age=31536000', 'x-powered-by': 'Express' },
    };
    const proxy: Fault = {
      spoil(_, { headers }) {
        for (const [name, value] of Object.entries(added)) headers.set(name, value);
        headers.append('vary', 'X-Forwarded-Proto');
        const type = headers.get('content-type');
        if (type === 'application/json') headers.set('content-type', `${type}; charset=utf-8`);
      },
    };
    const { passed, failures } = await run(proxy);
    expect({ passed, failures }).toEqual({ passed: true, failures: [] });
    expect(exchanges.length).toBeGreaterThan(20);
  });

  it('says what was sent and returned, and which header is not as documented, or missing', async () => {
    const { failures } = await run(
      spoil(/^GET \/inventory\?l/, fail),
      spoil(/^GET \/store\/orders.* 200$/, set('link', 'next')),
      spoil(/^GET \/pets.* 200$/, drop('deprecation')),
    );
    expect(failures[0]).toMatch(
      /^FAILED {3}listInventory: returns 200: GET \/inventory\?limit=100 returned 500 \{"code":"internal_error".* \(request id [\w-]+\); expected 200\.$/,
    );
    const documented = 'expected a response as documented\\. The header';
    const lines = failures.join('\n');
    expect(lines).toMatch(new RegExp(`getPet.* 200: .*${documented} Deprecation is missing`));
    expect(lines).toMatch(new RegExp(`listOrders.* 200: .*${documented} Link is "next"; it must`));
  });

  it('passes a short list uncompressed', async () => {
    const { rowsThat } = await run(spoil(/^GET \/inventory 200/, lengthen(49)));
    expect(rowsThat('FAILED')).toEqual([]);
  });

  it.each([
    ['without its tag', spoil(entryRead, drop('etag'))],
    ['of another id', spoil(entryRead, replace('740993', '740992'))],
  ])('writes nothing to an entry %s', async (_, fault) => {
    const { rowsThat } = await run(fault);
    expect(rowsThat('FAILED')).toContain(write);
    expect(exchanges.filter((one) => /^PATCH .* (200|412)$/.test(one))).toEqual([]);
  });
});

const apiKey = `psk_${'0'.repeat(42)}`;
const key = { PETSTORE_API_KEY: apiKey };

const checkout = '0123456789ab';
/** Each function's alias points at the newest of two versions. */
const deployed: Responses = {
  GetAlias: () => ({ FunctionVersion: '2' }),
  ListVersionsByFunction: () => ({
    Versions: [
      { Version: '1', Description: 'aaaaaaaaaaaa' },
      { Version: '2', Description: checkout },
    ],
  }),
};

/** Runs the command on a stage with this base address and other responses of AWS. */
async function callStage(
  args: readonly string[],
  BaseUrl: string,
  more: Record<string, string> = key,
  responses: Responses = {},
) {
  const stack = describeStack('petstore-staging', { BaseUrl });
  const { variables } = await useAws({ ...stack, ...deployed, ...responses });
  return callOps(petstore, ['smoke', '--stage', 'staging', ...args], { ...variables, ...more });
}

describe('npx petstore smoke, of an empty stage', () => {
  let target: ConformanceTarget;
  beforeAll(async () => {
    target = await openLocalTarget({ data: { inventory: [], pets: [], orders: [] } });
  });
  afterAll(() => target?.close());

  it('passes, prints each row, and never the key', async () => {
    const words = ['infra/petstore.js', 'smoke', '--base-url', target.baseUrl];
    const variables = { PETSTORE_API_KEY: `${target.apiKey}\n` };
    const { status, stdout, stderr } = await runOps(words, { variables });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const count = (outcome: string) => stdout.match(new RegExp(`^${outcome} `, 'gm'))?.length;
    const counts = `${count('passed')} rows passed, 0 failed, ${count('skipped')} skipped; `;
    expect(stdout).toMatch(new RegExp(`\\n${counts}\\d+ requests in \\d+ s\\.\\n$`));
    expect(stdout).toMatch(/^passed {3}the whole list: is whole/m);
    expect(stdout).toMatch(/^skipped {2}listInventory: gives each entry its tag .*: no entry$/m);
    expect(stdout).toMatch(/^skipped {2}getPet: returns 200: no id known$/m);
    expect(stdout).not.toContain('psk_');
  });

  it('keeps to the pace of its throttles, and its origin, with the key of the stage’s check', async () => {
    const origins = new Set<string | null>();
    const times: number[] = [];
    const ask: Fault['ask'] = ({ method, path, headers }) => {
      origins.add(headers.get('origin'));
      if (method === 'GET' && path.startsWith('/store/orders')) times.push(performance.now());
    };
    faults = [{ ask }];
    const known = { Parameter: { Value: target.readOnlyApiKey } };
    const responses: Responses = { GetParameter: () => known };
    const noKey = { PETSTORE_API_KEY: '' };
    const light = await callStage(['--light'], target.baseUrl, noKey, responses);
    expect(light).toMatchObject({ status: 0, stderr: '' });
    expect(light.stdout).toMatch(/^skipped {2}the whole list: .*: --light$/m);
    expect(light.stdout).not.toContain('psk_');
    expect(exchanges).not.toContain('GET /inventory 200');
    expect([...origins]).toEqual(['https://smoke.invalid']);
    // Staging lets five through in a second; not all of the first three come late.
    const scheduled = times.slice(0, 3).map((time, index) => time - index * 200);
    const elapsed = Number(times.at(-1)) - Math.min(...scheduled);
    expect(elapsed).toBeGreaterThan((times.length - 1) * 200 - 150);

    known.Parameter.Value = 'later';
    const stderr =
      'The API key in PETSTORE_API_KEY must be psk_ and 42 letters and digits; npx petstore keys check --stage staging makes one that the stage keeps.\n';
    const outcome = await callStage([], target.baseUrl, noKey, responses);
    expect(outcome).toEqual({ status: 2, stdout: '', stderr });
  });

  it('fails with a read key and --entry, with an entry that is missing, and writes nothing', async () => {
    faults = [{}];
    const settings = { baseUrl: target.baseUrl, entry: '7' };
    const read = await smoke({ ...settings, apiKey: target.readOnlyApiKey });
    expect(read.failures.join()).toContain('--entry takes a key with write');
    const missing = await smoke({ ...settings, apiKey: target.apiKey });
    expect(missing.failures).toContainEqual(
      expect.stringMatching(/tag, once: GET \/inventory\/7 returned 404 .*; expected 200\.$/),
    );
    expect(exchanges.filter((one) => /^PATCH .* 200$/.test(one))).toEqual([]);
  });

  it('says in one line that the stage refuses the key, and hides keys in the response', async () => {
    const unknown = target.apiKey.slice(0, -1) + (target.apiKey.endsWith('0') ? '1' : '0');
    const spoil: Fault['spoil'] = ({ headers }, response) => {
      response.text = `{"key":"${headers.get('authorization')?.toUpperCase()}"\n}`;
    };
    faults = [{ spoil }];
    const { passed, failures } = await smoke({ baseUrl: target.baseUrl, apiKey: unknown });
    const responded = 'GET /inventory?limit=100 returned 401 {"key":"BEARER PSK_LOCALSTAGE…" }';
    expect(failures).toEqual([expect.stringContaining(responded)]);
    expect(exchanges).toHaveLength(1);
    expect(passed).toBe(false);
  });

  it.each([
    [3, true, []],
    [1_000, false, [expect.stringContaining('has sent its 100 requests')]],
  ])('waits after %i 429s, and stops after a hundred requests', async (limited, ...expected) => {
    const spoil: Fault['spoil'] = (_, response) => {
      if (exchanges.length >= limited) return;
      response.status = 429;
      response.headers.set('retry-after', '0');
    };
    faults = [{ spoil }];
    const run = await smoke({ baseUrl: target.baseUrl, apiKey: target.apiKey });
    expect([run.passed, run.failures]).toEqual(expected);
    if (limited > 100) expect(exchanges).toHaveLength(100);
  });
});

const alias = (FunctionVersion: string, AdditionalVersionWeights = {}): Responses => ({
  GetAlias: () => ({ FunctionVersion, RoutingConfig: { AdditionalVersionWeights } }),
});
const [first = '', ...others] = operationIds;
const firstAtOther: Responses = {
  GetAlias: ({ FunctionName }) => ({
    FunctionVersion: `${FunctionName}`.endsWith(first) ? '1' : '2',
  }),
};
const unknown = 'unknown-no-git';
const describeVersion = (Description: string): Responses => ({
  ListVersionsByFunction: () => ({ Versions: [{ Version: '2', Description }] }),
});
it.each<[string, string, Responses, string?]>([
  [checkout, 'passed ', {}],
  [checkout, 'passed ', alias('2', { 1: 0 })],
  ['aaaaaaaaaaaa', 'FAILED ', alias('1')],
  [`aaaaaaaaaaaa 90% and ${checkout} 10%`, 'FAILED ', alias('1', { 2: 0.1 })],
  [`aaaaaaaaaaaa (${first}), ${checkout} (${others.join(', ')})`, 'FAILED ', firstAtOther],
  ['not known', 'FAILED ', describeVersion('')],
  [unknown, 'FAILED ', describeVersion(unknown), unknown],
])('npx petstore smoke --expect-commit tells that %s is live: %s', async (...row) => {
  const [live, outcome, responses, PETSTORE_COMMIT = checkout] = row;
  const variables = { ...key, PETSTORE_COMMIT };
  const nowhere = 'http://127.0.0.1:1/v1';
  const { stdout } = await callStage(['--expect-commit'], nowhere, variables, responses);
  expect(stdout).toContain(`Live is ${live}; this checkout is ${PETSTORE_COMMIT}.\n`);
  expect(stdout).toContain(`\n${outcome}  this checkout is live`);
  expect(stdout).toMatch(/ got no whole response: bad port\.\n\d rows? passed, [12] failed, /);
});

const respond = (response: ServerResponse) =>
  response.writeHead(200, { 'X-Request-Id': '8f2c1e0a-6a6b' });
const begin: RequestListener = (_, response) => void respond(response).write('[');
const breakOff: RequestListener = (_, response) =>
  void respond(response).write('[', () => response.destroy());
const redirect: RequestListener = ({ url }, response) => {
  if (/limit=1/.test(`${url}`)) response.writeHead(302, { Location: '/' }).end();
};

/** A list that takes longer than a pause may, with shorter pauses. */
const sendSlowly: RequestListener = async (_, response) => {
  respond(response);
  for (let piece = 0; piece < 4; piece += 1) {
    response.write(' ');
    await setTimeout(400);
  }
  response.end('[]');
};

const silent = 'got no whole response: 1 s of silence.';
describe.concurrent('a target that does not respond', () => {
  it.for<[message: string, limits: object, listener: RequestListener]>([
    [silent, { timeout: 1_000 }, () => {}],
    [silent, { timeout: 1_000 }, begin],
    ['The run was not done within 1 s.', { deadline: 1_000 }, () => {}],
    ['got no whole response: other side closed.', {}, breakOff],
    ['limit=100 returned 302 (request id missing)', { deadline: 1_000 }, redirect],
    ['limit=100 returned 200     [] ', { timeout: 1_500, deadline: 3_000 }, sendSlowly],
  ])('is one line: %s', async ([message, limits, listener], { expect }) => {
    using served = await serve(listener);
    const run = await smoke({ baseUrl: `${served.address}/v1`, apiKey, ...limits });
    expect(run.failures[0]).toContain(message);
    // After a response, the run goes on.
    if (!message.includes('returned')) expect(run.failures).toHaveLength(1);
    expect(run.rowsThat('passed')).toEqual([]);
  });
});

it('npx petstore smoke is interrupted with the status of Ctrl-C', async () => {
  using served = await serve(defineInterrupt());
  const outcome = await callOps(petstore, ['smoke', '--base-url', `${served.address}/v1`], key);
  expect(outcome).toMatchObject({ status: 130, stderr: '' });
  expect(outcome.stdout).toContain('The run was interrupted.');
});

/** A fault that requests something else. */
function rewrite(from: string | RegExp, to: string): Fault {
  return {
    ask(asked) {
      asked.path = asked.path.replace(from, to);
    },
  };
}

/** A fault of the responses to matching exchanges. */
function spoil(pattern: RegExp, change: (response: FrontResponse) => void): Fault {
  return {
    spoil({ method, path }, response) {
      if (pattern.test(`${method} ${path} ${response.status}`)) change(response);
    },
  };
}

function set(name: string, value: string) {
  return ({ headers }: FrontResponse) => headers.set(name, value);
}

function drop(name: string) {
  return ({ headers }: FrontResponse) => headers.delete(name);
}

function replace(from: string | RegExp, to: string) {
  return (response: FrontResponse) => {
    response.text = response.text.replace(from, to);
  };
}

function fail(response: FrontResponse): void {
  response.status = 500;
  response.text = '{"code":"internal_error","message":"Something went wrong.","status":500}';
}

/** Gives a list more entries, up to a number, and no compression. */
function lengthen(length: number) {
  return (response: FrontResponse) => {
    const list = JSON.parse(response.text) as unknown[];
    const more = ',{"petId":7,"quantity":1,"status":"sold"}'.repeat(length - list.length);
    response.text = response.text.replace(/]$/, `${more}]`);
    response.headers.delete('content-encoding');
  };
}

/** Gives each response the tag of the first one. */
function repeatTag(pattern: RegExp): Fault {
  let first: string | null = null;
  return spoil(pattern, ({ headers }) => {
    first ??= headers.get('etag');
    headers.set('etag', `${first}`);
  });
}

/** Lets in every request with the id of a key that it has seen. */
function trustKeyIds(pattern: RegExp): Fault {
  let known: string | null = null;
  return {
    ask({ method, path, headers }) {
      const authorization = headers.get('authorization');
      known ??= authorization;
      if (known && authorization && pattern.test(`${method} ${path}`)) {
        headers.set('authorization', known);
      }
    },
  };
}
