import { describe, expect, it, vi } from 'vitest';
import {
  type ClientOptions,
  createPetstoreClient,
  type PetstoreClient,
  type ResponseInfo,
} from '../../../shared/client/index.ts';
import { apiKey, toError, unfinished, useStandIn } from './standIn.ts';

const standIn = useStandIn();

const busy = toError(503, 'service_unavailable', { 'X-Request-Id': 'id-1' });
const entry = '{"petId":7,"quantity":3,"status":"sold"}';
const tagged = { body: entry, headers: { ETag: '"a"' } };
const adjusted = { body: `{"entries":[${entry}]}` };
const sale = [{ petId: 7n, delta: -1 }];

const update = (client: PetstoreClient, option: never) =>
  client.updateInventory(7n, { quantity: 1 }, option);

const adjust = (client: PetstoreClient, option: never) => client.adjustInventory(sale, option);

describe('an invalid option', () => {
  it.each<[string, Partial<ClientOptions>]>([
    ['baseUrl', { baseUrl: '' }],
    ['baseUrl', { baseUrl: 'ftp://petstore.example/v1' }],
    ['baseUrl', { baseUrl: 'xhttps://petstore.example/v1' }],
    ['baseUrl', { baseUrl: 'https://me:secret@petstore.example/v1' }],
    ['baseUrl', { baseUrl: 'https://petstore.example/v1?key=1' }],
    ['an http or https URL that ends in /v1', { baseUrl: 'https://petstore.example' }],
    ['that ends in /v1', { baseUrl: 'https://v1' }],
    ['that ends in /v1', { baseUrl: 'https://petstore.example/apiv1' }],
    ['that ends in /v1', { baseUrl: 'https://petstore.example/#/v1' }],
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: undefined as never }],
    ['apiKey', { apiKey: 'psk_secret\n' }],
    ['apiKey', { apiKey: ' psk_secret' }],
    ['fetch must be a function', { fetch: 'node-fetch' as never }],
    ['onResponse must be a function', { onResponse: true as never }],
    ['onDeprecation must be a function', { onDeprecation: null as never }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: '500' as never }],
    ['totalTimeout', { totalTimeout: 2 ** 31 }],
    ['maxRetries', { maxRetries: -1 }],
    ['maxRetries', { maxRetries: 1.5 }],
    ...['authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'IDEMPOTENCY-KEY'].map(
      (name): [string, Partial<ClientOptions>] => [
        `The client sets ${name} itself`,
        { headers: { [name]: 'secret' } },
      ],
    ),
    ['The header "X-Shop"', { headers: { 'X-Shop': 'secret\n1' } }],
    ['The header "X-Shop"', { headers: { 'X-Shop': undefined as never } }],
    ['The header "X-Shop"', { headers: new Map([['X-Shop', 'secret\n1']]) as never }],
    ['The header "X Shop"', { headers: { 'X Shop': '1' } }],
    ['headers must be', { headers: null as never }],
  ])('%s is refused by its name: %j', (name, option) => {
    const options = { baseUrl: 'https://petstore.example/v1', apiKey, ...option };
    expect(() => createPetstoreClient(options)).toThrow(TypeError);
    expect(() => createPetstoreClient(options)).toThrow(name);
    expect(() => createPetstoreClient(options)).not.toThrow('secret');
  });

  it.each([
    ['The client sets Authorization itself', { headers: { Authorization: 'x' } }],
    ['onResponse must be a function', { onResponse: 1 as never }],
    ['signal must be an AbortSignal', { signal: new AbortController() as never }],
    ['signal must be an AbortSignal', { signal: null as never }],
  ])('of a call rejects: %s', async (message, options) => {
    const call = standIn.open().listOrders({}, options);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(message);
    expect(standIn.requests).toEqual([]);
  });

  const noTags = [null, ['"a"'], '', ' "a"', '"a"\n', '"№1"'];
  const noKeys = [null, '', 'a b', 'a\n', 'a'.repeat(256)];

  it.each<[string, (client: PetstoreClient, option: never) => unknown, readonly unknown[]]>([
    ['idempotencyKey', adjust, [undefined, ...noKeys]],
    ['ifMatch', update, noTags],
    ['ifNoneMatch', (client, option) => client.getInventoryEntry(7n, option), noTags],
    ['ifNoneMatch', (client, option) => client.listInventory(option), noTags],
    ['petIds', (client, option) => client.listInventory(option), [null, new Set([7n])]],
  ])('of a request is refused before anything is sent: %s by %s', async (name, call, values) => {
    standIn.responses = [tagged];
    for (const value of values) {
      const calling = (async () => call(standIn.open(), { [name]: value } as never))();
      await expect(calling, String(value)).rejects.toThrow(TypeError);
      await expect(calling).rejects.toThrow(new RegExp(`^${name} must be `));
    }
    expect(standIn.requests).toEqual([]);
  });

  const ofClient = 'baseUrl, apiKey, fetch, onDeprecation';
  const shared = 'headers, onResponse, timeout, totalTimeout, maxRetries';
  const ofCall = `signal, ${shared}`;
  const ofList = 'status, petIds, include, limit, cursor, ifNoneMatch';

  it.each<[string, (client: PetstoreClient, option: never) => unknown, string]>([
    ['retries', (_, option) => standIn.open(option), `${ofClient}, ${shared}`],
    ['baseUrl', (client, option) => client.listOrders({}, option), ofCall],
    ['ifMatch', adjust, `idempotencyKey, ${ofCall}`],
    ['ifMatch', (client, option) => client.getInventoryEntry(7n, option), `ifNoneMatch, ${ofCall}`],
    // It was an option until release 3.0.
    ['idempotencyKey', update, `ifMatch, ${ofCall}`],
    ['petId', (client, option) => client.listInventory(option), ofList],
    ['signal', (client, option) => client.listOrders(option), 'limit, cursor'],
    ['timeout', (client, option) => client.orders(option).next(), 'limit, cursor'],
  ])('is unknown: %s, refused by its name by %s', async (name, call, known) => {
    const calling = (async () => call(standIn.open(), { [name]: 3 } as never))();
    const message = `There is no option "${name}" here: the options are ${known}.`;
    await expect(calling).rejects.toThrow(new TypeError(message));
    expect(standIn.requests).toEqual([]);
  });
});

it.each(['W/"a"', '"a", "b"', '*'])('ifMatch and ifNoneMatch may be %s', async (tag) => {
  standIn.responses = [tagged];
  const client = standIn.open();
  await client.getInventoryEntry(7n, { ifNoneMatch: tag });
  await client.updateInventory(7n, { quantity: 1 }, { ifMatch: tag });
  const sent = standIn.requests.map(
    ({ headers }) => headers['if-none-match'] ?? headers['if-match'],
  );
  expect(sent).toEqual([tag, tag]);
});

it.each(['!', '~'.repeat(255)])('idempotencyKey may be %s', async (key) => {
  standIn.responses = [adjusted];
  await standIn.open().adjustInventory(sale, { idempotencyKey: key });
  expect(standIn.requests[0]?.headers['idempotency-key']).toBe(key);
});

describe('headers', () => {
  it('of the client and of the call are sent with each attempt, and the call’s win', async () => {
    standIn.responses = [busy, adjusted];
    const client = standIn.open({ headers: { 'X-Shop': 'one', baggage: 'client' } });
    const headers = new Headers({ Baggage: 'call', 'X-Request-Id': 'sale-1' });
    await client.adjustInventory(sale, { idempotencyKey: 'order-1', headers });
    const sent = { 'x-shop': 'one', baggage: 'call', 'x-request-id': 'sale-1' };
    const all = { ...sent, authorization: `Bearer ${apiKey}` };
    const ofSale = { 'content-type': 'application/json', 'idempotency-key': 'order-1' };
    expect(standIn.requests).toMatchObject(Array(2).fill({ headers: { ...all, ...ofSale } }));
    standIn.responses = [tagged];
    await client.getInventoryEntry(7n);
    expect(standIn.requests[2]?.headers).not.toHaveProperty('content-type');
  });
});

describe('fetch', () => {
  it('can be an option, and is called without a receiver, like the global one', async () => {
    const asked: string[] = [];
    const own: ClientOptions['fetch'] = async function (this: unknown, url, init) {
      asked.push(`${init.method} ${url} ${this}`);
      return fetch(url, init);
    };
    standIn.responses = [{}];
    await standIn.open({ fetch: own }).listInventory({ status: 'sold' });
    expect(asked).toEqual([`GET ${standIn.baseUrl}/inventory?status=sold undefined`]);
  });

  it('may give responses without a stream', async () => {
    const own = async () => ({
      ok: true,
      status: 200,
      headers: new Headers(),
      body: {},
      text: async () => '[]',
    });
    const client = standIn.open({ fetch: own as never });
    expect((await client.listOrders()).items).toEqual([]);
    const onResponse = vi.fn().mockThrow('enough');
    await expect(client.listOrders({}, { onResponse })).rejects.toBe('enough');
  });

  // As Cloudflare's Workers refused it until 2024-11.
  it('may refuse the option cache', async () => {
    const own: ClientOptions['fetch'] = async (url, init) => {
      if ('cache' in init) throw new TypeError("The 'cache' field is not implemented.");
      return fetch(url, init);
    };
    standIn.responses = [{}];
    expect((await standIn.open({ fetch: own }).listInventory()).items).toEqual([]);
  });

  it('may be that of React Native, whose URLSearchParams has no set', async () => {
    vi.spyOn(URLSearchParams.prototype, 'set').mockThrow(new Error('It is not implemented'));
    standIn.responses = [{}];
    await standIn.open().listOrders({ limit: 5, cursor: undefined });
    expect(standIn.requests[0]?.url).toBe('/v1/store/orders?limit=5');
  });

  it('is by default the global one at the time of the call', async () => {
    const client = standIn.open();
    const own = vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response('[]'));
    await client.listOrders();
    expect(own).toHaveBeenCalledOnce();
  });
});

describe('apiKey as a function', () => {
  it('gives the key of each request: its retries have the same', async () => {
    standIn.responses = [busy, tagged, busy, adjusted];
    let count = 0;
    const client = standIn.open({ apiKey: async () => `psk_${++count}` });
    await client.getInventoryEntry(7n);
    await client.adjustInventory(sale, { idempotencyKey: 'order-1' });
    const authorizations = standIn.requests.map(({ headers }) => headers.authorization);
    expect(authorizations).toEqual([1, 1, 2, 2].map((key) => `Bearer psk_${key}`));
  });

  const reason = new Error('The vault is closed.');

  it.each<[string, () => string | Promise<string>, unknown]>([
    ['an invalid key', () => 'psk_secret\n', /^TypeError: apiKey must be (?!.*secret)/],
    ['nothing', async () => undefined as never, /^TypeError: apiKey must be /],
    ['an error', () => Promise.reject(reason), reason],
  ])('that gives %s ends the call before anything is sent', async (_, apiKey, expected) => {
    const call = standIn.open({ apiKey }).listOrders();
    const error = await call.catch((cause) => cause);
    if (expected instanceof RegExp) expect(String(error)).toMatch(expected);
    else expect(error).toBe(expected);
    expect(standIn.requests).toEqual([]);
  });

  it.each([
    ['a timeout', () => ({ timeout: 20, maxRetries: 0 }), { code: 'timeout' }],
    ['its signal', () => ({ signal: AbortSignal.timeout(20) }), { name: 'TimeoutError' }],
  ])('delays no call after %s, and a late key is not sent', async (...row) => {
    const [, toOptions, expected] = row;
    const key = Promise.withResolvers<string>();
    const own = vi.fn();
    const client = standIn.open({ apiKey: () => key.promise, fetch: own });
    await expect(client.getInventoryEntry(7n, toOptions())).rejects.toMatchObject(expected);
    key.resolve('psk_late');
    await key.promise;
    await new Promise(setImmediate);
    expect(own).not.toHaveBeenCalled();
  });
});

describe('onResponse', () => {
  it('is called with each response of a call, errors too', async () => {
    standIn.responses = [busy, tagged, toError(412, 'precondition_failed')];
    const responses: ResponseInfo[] = [];
    const client = standIn.open({ onResponse: (response) => responses.push(response) });
    await client.getInventoryEntry(7n);
    const updating = client.updateInventory(7n, { quantity: 3 }, { ifMatch: '"a"' });
    await expect(updating).rejects.toMatchObject({ status: 412 });
    const lines = responses.map(({ operationId, status, requestId, headers }) =>
      [operationId, status, requestId, headers.get('ETag')].join(' '),
    );
    expect(lines).toEqual([
      'getInventoryEntry 503 id-1 ',
      'getInventoryEntry 200  "a"',
      'updateInventory 412  ',
    ]);
  });

  it('of a call replaces the client’s, for every page', async () => {
    const ofClient = vi.fn();
    const ofCall = vi.fn();
    standIn.responses = [{ headers: { Link: '</v1?cursor=a>; rel="next"' } }, {}];
    const client = standIn.open({ onResponse: ofClient });
    await Array.fromAsync(client.orders({}, { onResponse: ofCall }));
    expect([ofClient.mock.calls.length, ofCall.mock.calls.length]).toEqual([0, 2]);
  });

  it.each(['onResponse', 'onDeprecation'])(
    'or %s, when it throws, ends the call with its error and the connection',
    async (name) => {
      const reason = new Error('no such counter');
      standIn.responses = [unfinished(200, '[', { Deprecation: '@1' })];
      // The connection ends even if `fetch` ignores its signal.
      const own = (url: string, { signal: _, ...init }: RequestInit) => fetch(url, init);
      const client = standIn.open({ fetch: own, [name]: vi.fn().mockThrow(reason) });
      await expect(client.listOrders()).rejects.toBe(reason);
      expect(standIn.requests).toHaveLength(1);
      await standIn.requests[0]?.closed;
    },
  );
});
