import type { RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { gatewayErrors } from '../../../../infra/gateway/gatewayErrors.ts';
import { credentialsPattern, listRateRules } from '../../../../infra/gateway/rateRules.ts';
import { rows } from '../../../../infra/ops/smoke/rows.ts';
import { checkStage } from '../../../../infra/ops/smoke/runSmoke.ts';
import { MAX_REQUESTS, type SmokeSettings } from '../../../../infra/ops/smoke/smokeClient.ts';
import { petstore } from '../../../../infra/petstore.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { findOperation } from '../../../../shared/contract/paths.ts';
import { openLocalTarget } from '../../../conformance/localTarget.ts';
import { type ConformanceTarget, fixtures } from '../../../conformance/target.ts';
import { changeProduction } from '../../../support/stageFixtures.ts';
import { describeReleases, describeStack, type Responses, serve, useAws } from '../aws.ts';
import { callOps, defineInterrupt, toScreen } from '../opsProcess.ts';

/** A request, and its response once there is one. */
interface Exchange {
  readonly method: string;
  /** Relative to the base URL. */
  readonly path: string;
  readonly sent: Headers;
  /** 0 before the response. */
  status: number;
  readonly headers: Headers;
  text: string;
}

/** A fault of a stage: it changes the headers of a request before it is sent, or its response. */
type Fault = (exchange: Exchange) => unknown;

let faults: readonly Fault[] = [];
/** What was sent and returned, such as `GET /inventory 200`. */
const exchanges: string[] = [];
const { fetch } = globalThis;

let target: ConformanceTarget;
let emptyTarget: ConformanceTarget;
beforeAll(async () => {
  const inventory = fixtures.inventory.slice(0, 9);
  target = await openLocalTarget({ data: { ...fixtures, inventory } });
  emptyTarget = await openLocalTarget({ data: { inventory: [], pets: [], orders: [] } });
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const [, path = ''] = url.split(/(?<=\/v1)/);
    const sent = new Headers(init.headers);
    const method = `${init.method}`;
    const exchange: Exchange = { method, path, sent, status: 0, headers: sent, text: '' };
    for (const fault of faults) fault(exchange);
    const received = await fetch(url, { ...init, headers: sent });
    if (faults.length === 0) return received;
    const { status } = received;
    const headers = new Headers(received.headers);
    Object.assign(exchange, { status, headers, text: await received.text() });
    for (const fault of faults) fault(exchange);
    exchanges.push(toLine(exchange));
    return new Response(exchange.text || null, exchange);
  });
});
afterAll(async () => {
  vi.unstubAllGlobals();
  await target?.close();
  await emptyTarget?.close();
});

const toLine = ({ method, path, status }: Exchange) => `${method} ${path} ${status}`;

/** Checks a stage, by default the one with data, and takes apart what was printed. */
async function smoke(some: readonly Fault[], settings: Partial<SmokeSettings> = {}) {
  const { baseUrl, apiKey, origin } = target;
  const { signal } = new AbortController();
  const lines: string[] = [];
  faults = some;
  exchanges.length = 0;
  const defaults = { baseUrl, apiKey, origin, entry, signal, isLight: false };
  const passed = await checkStage({ ...defaults, ...settings }, (line) => lines.push(line));
  expect(exchanges.length).toBeLessThanOrEqual(MAX_REQUESTS);
  expect(lines.join()).not.toContain(apiKey.slice(4, 30));
  return {
    passed,
    failures: lines.filter((line) => line.startsWith('FAILED')),
    rowsThat: (outcome: 'passed' | 'FAILED') =>
      Object.keys(rows).filter((_, index) => lines[index]?.startsWith(outcome)),
  };
}

const entry = '9007199254740993';
const write = 'updateInventory: writes the count of --entry back under its tag, once';
const entryRead = new RegExp(`^GET /inventory/${entry} 200$`);
const listRead = /^GET \/inventory 200$/;
/** Of another entry than that of --entry. */
const itemRead = new RegExp(`^GET /inventory/(?!${entry})-?\\d{1,15} \\d+$`);

/** By row: the faults that it fails on. For what follows from the contract, of whichever operations there are. */
function plantInOperation(id: OperationId): Record<string, Fault[]> {
  const { method, path, permission, errors }: Operation = operations[id];
  const pattern = path.replace(/\{\w+\}/, '-?\\d+');
  const success = new RegExp(`^${method} ${pattern}(\\?limit=100)? 200$`);
  const missing = new RegExp(`^${method} ${pattern.replace('+', '{15,}')} 404$`);
  const unauthorized = new RegExp(`^${method} ${pattern}\\b.* 401$`);
  const preflight = new RegExp(`^OPTIONS ${pattern}\\b.* \\d{3}$`);
  const orForbidden = permission === 'write' ? ', or 403 for a read key' : '';
  return {
    ...(permission === 'read' && { [`${id}: returns 200`]: [on(success, fail)] }),
    ...(errors.includes('not_found') && {
      [`${id}: returns 404 for an unknown id${orForbidden}`]: [
        on(missing, fail),
        on(missing, replace('not_', '')),
        // Of the gateway.
        on(
          missing,
          replace(/"message":"[^"]+/, `"message":"${gatewayErrors.RESOURCE_NOT_FOUND.message}`),
        ),
      ],
    }),
    [`${id}: refuses a request without a key, and a key with a wrong secret`]: [
      on(unauthorized, fail),
      on(unauthorized, set('www-authenticate', 'Basic')),
      on(new RegExp(`^${method} ${pattern}\\b`), trustKeyId),
    ],
    [`${id}: the gateway answers preflights, and refuses other methods`]: [
      on(preflight, set('access-control-allow-methods', 'TRACE')),
      on(preflight, set('access-control-allow-headers', 'Accept')),
      on(preflight, set('access-control-allow-origin', 'https://a.example')),
      on(preflight, set('x-request-id')),
      on(new RegExp(`^\\w+ ${pattern}(\\?.*)? 405$`), set('allow', 'TRACE')),
    ],
  };
}

const planted: Record<string, Fault[]> = {
  ...Object.assign({}, ...operationIds.map(plantInOperation)),
  'listInventory: returns 200': [
    on(/^GET \/inventory\?limit=100 200$/, fail),
    on(/^GET \/inventory\?limit=1 200$/, empty),
    on(/^GET \/inventory\?petId=-?\d+ 200$/, empty),
    on(listRead, empty),
    on(listRead, replace(/.$/, '')),
    on(listRead, set('link', 'next')),
  ],
  'getInventoryEntry: returns 200': [
    on(itemRead, fail),
    on(itemRead, replace(/"petId":-?\d+/, '"petId":77')),
    on(itemRead, ({ sent }) => sent.delete('if-none-match')),
    on(/^GET \/inventory\/-?\d+ 304$/, (exchange) => {
      exchange.status = 404;
      exchange.text = '{"code":"not_found","message":"There is none.","status":404}';
    }),
  ],
  [write]: [
    ({ sent }) => sent.delete('if-match'),
    on(/^PATCH .* 200$/, replace(/"quantity":\d+/, '"quantity":77')),
    on(/^PATCH .* 200$/, ({ sent, headers }) => headers.set('etag', `${sent.get('if-match')}`)),
    on(/^PATCH .* 412$/, set('etag', '"other"')),
    repeatTag(entryRead),
  ],
  'the gateway: returns 404 for an unknown path': [
    on(/smoke 404/, replace('unknown_path', 'forbidden')),
    on(/smoke 404/, set('retry-after', 'soon')),
  ],
};

/** Rows with a fault each, at most one a batch; the loss of a list is alone, since rows behind it need its ids. */
const batches = Map.groupBy(
  Object.entries(planted).flatMap(([row, variants]) => {
    const [id = '', returns200] = row.split(': ');
    const isList =
      returns200 === 'returns 200' && !operations[id as OperationId].path.includes('{');
    // A run ends at a 401 that is wrong if no row has passed, as the first faults of keys make it.
    const toBatch = (index: number) => `faults ${isList ? index + 1 : index}`;
    return variants.map((fault, index) => {
      return { row, fault, batch: isList && index === 0 ? row : toBatch(index) };
    });
  }),
  ({ batch }) => batch,
);

it('npx petstore smoke passes, and a fault is planted for each row', async () => {
  const { passed, rowsThat } = await smoke([() => {}]);
  expect(passed).toBe(true);
  // Without a sale.
  expect(exchanges.filter((one) => one.startsWith('POST /inventory/adjustments'))).toEqual(
    ['404', '401', '401'].map((status) => `POST /inventory/adjustments ${status}`),
  );
  expect(new Set(Object.keys(planted))).toEqual(new Set(rowsThat('passed')));
});

it.each([...batches])(
  'npx petstore smoke fails in the rows alone that have faults: %s',
  async (_, batch) => {
    const { passed, rowsThat } = await smoke(batch.map(({ fault }) => fault));
    expect(new Set(rowsThat('FAILED'))).toEqual(new Set(batch.map(({ row }) => row)));
    expect(passed).toBe(false);
  },
);

/** A proxy that adds headers of its own, and extends others. */
function addHeaders({ headers }: Exchange): void {
  const added = {
    age: '0',
    via: '1.1 cdn.example (CloudFront)',
    'cf-ray': '8f2c1e0a6a6b-AMS',
    server: 'cloudflare',
    'alt-svc': 'h3=":443"',
    'set-cookie': '__cf_bm=a; Secure',
    'strict-transport-security': 'max-age=31536000',
    'x-powered-by': 'Express',
  };
  for (const [name, value] of Object.entries(added)) headers.set(name, value);
  headers.append('vary', 'X-Forwarded-Proto');
  const type = headers.get('content-type');
  if (type === 'application/json') headers.set('content-type', `${type}; charset=utf-8`);
}

/** Refuses so many requests of a run with 429. */
const limit = (times: number) =>
  on(/ \d{3}$/, (exchange) => {
    if (exchanges.length >= times) return;
    exchange.status = 429;
    exchange.headers.set('retry-after', '0');
  });

const apiKey = `psk_${'0'.repeat(42)}`;
/** What a stage with data does, and the settings of its run. */
const troubles: Readonly<Record<string, [fault: Fault[], settings?: () => object]>> = {
  'a proxy that adds headers of its own, and extends others': [[on(/ \d{3}$/, addHeaders)]],
  'an entry without its tag': [[on(entryRead, set('etag'))]],
  'an entry with another id': [[on(entryRead, replace('740993', '740992'))]],
  'a read key, and an entry': [[() => {}], () => ({ apiKey: target.readOnlyApiKey })],
  'a key that is refused, and is in the response': [
    [
      on(/ 401$/, (exchange) => {
        exchange.text = `{"key":"${exchange.sent.get('authorization')?.toUpperCase()}"\n}`;
      }),
    ],
    () => ({ apiKey }),
  ],
  'three 429s': [[limit(3)]],
  'nothing but 429s': [[limit(1_000)]],
};

const respond = (response: ServerResponse) =>
  response.writeHead(200, { 'X-Request-Id': '8f2c1e0a-6a6b' });
const begin: RequestListener = (_, response) => void respond(response).write('[');
const breakOff: RequestListener = (_, response) =>
  void respond(response).write('[', () => response.destroy());
const redirect: RequestListener = ({ url }, response) => {
  if (/inventory\?limit=1/.test(`${url}`)) response.writeHead(302, { Location: '/' }).end();
};

/** Targets that do not respond as a stage does, within a second. */
const targets: Readonly<Record<string, RequestListener>> = {
  'a response without an end': begin,
  'no response in time': () => {},
  'a broken connection': breakOff,
  'a redirect, and no response in time': redirect,
};

const checkout = '0123456789ab';
const unknown = 'unknown-no-git';
/** The live version of a function, and the share of the requests that version 2 gets. */
const toAlias = (FunctionVersion: string, weight = 0) => ({
  FunctionVersion,
  RoutingConfig: { AdditionalVersionWeights: { 2: weight } },
});
/** Functions that have two versions. */
const toFunctions = (GetAlias: Responses[string], Description = checkout): Responses => ({
  GetAlias,
  ListVersionsByFunction: () => ({
    Versions: [
      { Version: '1', Description: 'aaaaaaaaaaaa' },
      { Version: '2', Description },
    ],
  }),
});
const newest = toFunctions(() => ({ FunctionVersion: '2' }));
const digest = '0123456789abcdef';
const toReleases = (...commits: string[]) =>
  describeReleases(() =>
    commits.map((commit) => ({ commit, digests: mapOperations(() => digest) })),
  );
/** What is live, the line about it, what the functions have, and the checkout if it is another. */
const live: readonly [name: string, line: string, Responses, checkout?: string][] = [
  ['the checkout', 'Live is 0123456789ab', newest],
  [
    'another commit, after a canary',
    'FAILED   Live is aaaaaaaaaaaa',
    toFunctions(() => toAlias('1')),
  ],
  [
    'the checkout, of documents alone, by its digests',
    'Live is 0123456789ab',
    { ...toFunctions(() => toAlias('2'), digest), ...toReleases('aaaaaaaaaaa1', checkout) },
  ],
  [
    'a canary of what no release has yet',
    'FAILED   Live is 0123456789abcdef and aaaaaaaaaaaa',
    toFunctions(() => toAlias('1', 0.1), digest),
  ],
  ['a version without a commit', 'FAILED   Live is not known', toFunctions(() => toAlias('2'), '')],
  [
    'no commit, as in the checkout',
    'FAILED   Live is unknown-no-git',
    toFunctions(() => toAlias('2'), unknown),
    unknown,
  ],
];

/** The screen of the command; staging has this base URL, and other responses of AWS. */
async function call(
  typed: string,
  variables: Record<string, string>,
  responses: Responses = {},
  BaseUrl = 'http://127.0.0.1:1/v1',
) {
  const stack = describeStack('petstore-staging', { BaseUrl });
  const aws = await useAws({ ...stack, ...describeReleases(() => []), ...newest, ...responses });
  const args = ['smoke', ...typed.split(' ')];
  const commit = { PETSTORE_COMMIT: checkout };
  const outcome = await callOps(petstore, args, { ...aws.variables, ...commit, ...variables });
  expect(aws.calls.length > 0).toBe(typed.startsWith('--stage'));
  return toScreen(args, outcome);
}

/** Leaves out addresses, times, and the rows of other operations, which grow with the contract. */
function withoutOthers(screen: string): string {
  const ofOthers = operationIds.filter((id) => id !== 'getInventoryEntry');
  const rowsOfOthers = [...ofOthers.flatMap((id) => Object.keys(plantInOperation(id)))];
  return screen
    .split('\n')
    .filter((line) => !rowsOfOthers.some((row) => /^[ps]/.test(line) && line.includes(row)))
    .join('\n')
    .replaceAll(/(?<=127\.0\.0\.1:)\d{2,}/g, 'PORT')
    .replaceAll(/(?<=request id )[\w-]{36}/g, 'ID')
    .replaceAll(/^\d\d rows passed, (\d) failed, \d skipped; \d\d /gm, 'Rows failed: $1; N ')
    .replaceAll(/(?<=requests? in )\d+/g, 'N');
}

const noKey = { PETSTORE_API_KEY: '' };
const toCheckKey = (Value: string): Responses => ({
  GetParameter: () => ({ Parameter: { Value } }),
});

it('npx petstore smoke says what was sent and returned, and what it expected', async () => {
  const key = { PETSTORE_API_KEY: `${emptyTarget.apiKey}\n` };
  faults = [on(/^GET \/store\/orders\?limit=100 200$/, fail)];
  const screens = [await call(`--base-url ${emptyTarget.baseUrl}`, key)];
  using interrupting = await serve(defineInterrupt());
  screens.push(await call(`--base-url ${interrupting.address}/v1`, key));
  screens.push((await call('--stage staging', noKey, toCheckKey('later'))).trimEnd(), '');
  for (const [name, [some, settings]] of Object.entries(troubles)) {
    const { failures } = await smoke(some, settings?.());
    const written = exchanges.filter((one) => /^PATCH .* (200|412)$/.test(one)).length;
    screens.push(`${name}: ${written} updates`, ...failures);
  }
  faults = [];
  const served = Object.entries(targets).map(async ([name, listener]) => {
    using server = await serve(listener);
    const baseUrl = `${server.address}/v1`;
    const signal = AbortSignal.timeout(1_000);
    const { failures, rowsThat } = await smoke([], { baseUrl, apiKey, signal });
    expect(rowsThat('passed')).toEqual([]);
    return [`${name}:`, ...failures];
  });
  screens.push(...(await Promise.all(served)).flat());
  await expect(`${withoutOthers(screens.join('\n'))}\n`).toMatchFileSnapshot('smoke.txt');
});

it.each(live)('npx petstore smoke --expect-commit where live is %s', async (_, line, ...row) => {
  const [responses, PETSTORE_COMMIT = checkout] = row;
  const variables = { PETSTORE_API_KEY: apiKey, PETSTORE_COMMIT };
  const screen = await call('--stage staging --expect-commit', variables, responses);
  expect(screen.split('\n')[2]).toBe(`${line}; this checkout is ${PETSTORE_COMMIT}.`);
});

it('npx petstore smoke --light has the key and an origin of the stage, and leaves out the whole list', async () => {
  const origins = new Set<string | null>();
  faults = [({ sent }) => origins.add(sent.get('origin'))];
  exchanges.length = 0;
  const responses = toCheckKey(emptyTarget.readOnlyApiKey);
  const screen = await call('--stage staging --light', noKey, responses, emptyTarget.baseUrl);
  expect(screen).not.toMatch(/^(!|\(status|FAILED)|psk_/m);
  expect(exchanges).toContain('GET /inventory?limit=1 200');
  expect(exchanges).not.toContain('GET /inventory 200');
  expect([...origins]).toEqual(['https://smoke.invalid']);
});

it('twice in a minute, npx petstore smoke stays within the limits of the firewall', async () => {
  const counts = new Map<string | undefined, number>();
  const countOne = (what: string | undefined) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const count: Fault = ({ method, path, sent, status }) => {
    if (status !== 0) return;
    const credentials = sent.get('Authorization')?.toLowerCase() ?? '';
    const hasKey = new RegExp(credentialsPattern).test(credentials);
    countOne('all');
    if (!hasKey && method !== 'OPTIONS') countOne('keyless');
    if (hasKey) countOne(findOperation(method, path));
  };
  await smoke([count]);
  for (const rule of listRateRules(changeProduction({ firewall: true }).settings)) {
    const sent = counts.get(rule.counts) ?? 0;
    expect(sent).toBeGreaterThan(0);
    expect(2 * sent).toBeLessThanOrEqual(rule.limit);
  }
});

/** A fault of the exchanges that match. */
function on(pattern: RegExp, change: Fault): Fault {
  return (exchange) => {
    if (pattern.test(toLine(exchange))) change(exchange);
  };
}

/** Sets a header of the response, or deletes it. */
function set(name: string, value?: string): Fault {
  return ({ headers }) => (value === undefined ? headers.delete(name) : headers.set(name, value));
}

function replace(from: string | RegExp, to: string): Fault {
  return (exchange) => {
    exchange.text = exchange.text.replace(from, to);
  };
}

function empty(exchange: Exchange): void {
  exchange.text = '[]';
}

function fail(exchange: Exchange): void {
  exchange.status = 500;
  exchange.text = '{"code":"internal_error","message":"Something went wrong.","status":500}';
}

/** Gives each response the tag of the first one. */
function repeatTag(pattern: RegExp): Fault {
  let first: string | null = null;
  return on(pattern, ({ headers }) => {
    first ??= headers.get('etag');
    headers.set('etag', `${first}`);
  });
}

/** Takes every key for the one that has its id. */
function trustKeyId({ sent }: Exchange): void {
  if (sent.has('authorization')) sent.set('authorization', `Bearer ${target.apiKey}`);
}
