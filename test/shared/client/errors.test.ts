import { inspect } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { type Deprecation, PetstoreError } from '../../../shared/client/index.ts';
import { toLifecycleHeaders } from '../../../shared/contract/operation.ts';
import {
  apiKey,
  brokenOff,
  lost,
  type StandInResponse,
  toError,
  unknownPaths,
  useStandIn,
} from './standIn.ts';

const standIn = useStandIn();

async function fail(response: StandInResponse): Promise<PetstoreError> {
  standIn.responses = [response];
  const call = standIn.open({ maxRetries: 0 }).getInventoryEntry(7n);
  const error = await call.catch((cause) => cause);
  expect(error).toBeInstanceOf(PetstoreError);
  return error;
}

const entry = '{"petId":7,"quantity":3,"status":"sold"}';
const ETag = '"a"';
const notOurs = 'The response has status 502, but no error body of the service.';

describe('a PetstoreError', () => {
  it('has the service’s code, message and status, and the request id', async () => {
    const error = await fail(toError(404, 'not_found', { 'X-Request-Id': 'id-1' }));
    expect(error).toMatchObject({
      name: 'PetstoreError',
      message: 'It is not_found.',
      code: 'not_found',
      status: 404,
      requestId: 'id-1',
      retryAfter: undefined,
      effect: 'none',
      operationId: 'getInventoryEntry',
      attempts: 1,
      // Only the package has an address.
      documentation: undefined,
    });
  });

  it.each([
    [{ status: 502, body: '<html>Bad Gateway</html>' }, 'service_unavailable', 502, notOurs],
    // API Gateway, outside the service's stage.
    [{ status: 403, body: '{"message":"Forbidden"}' }, 'invalid_response', 403],
    [{ status: 500, body: 'null' }, 'service_unavailable', 500],
    [{ status: 400, body: '{"code":"toString","message":"x"}' }, 'invalid_response', 400],
    [toError(404, 'unknown_path'), 'invalid_response', 404, 'It is unknown_path.'],
    ...unknownPaths.map(
      (response) =>
        [response, 'invalid_response', 404, /^There is nothing at this path\. The base /] as const,
    ),
    [{ status: 304, body: '' }, 'invalid_response', 304],
    [{ status: 204, body: '' }, 'invalid_response', 204],
    [
      { body: '<html>' },
      'invalid_response',
      200,
      /^The response is not a valid getInventoryEntry .*JSON/,
    ],
    [{ body: '[]' }, 'invalid_response', 200, /response\. Its petId is missing or invalid\.$/],
    [{ body: '[' }, 'invalid_response', 200],
    [brokenOff('{"code":', 404), 'connection_failed', 404, /^The response was truncated\. t/],
    [{ body: 'null' }, 'invalid_response', 200],
    [
      { body: entry, headers: { ETag: 'W/"a"' } },
      'invalid_response',
      200,
      /^A proxy changed the ETag.* compression/,
    ],
    [lost, 'connection_failed', undefined, /^No response came\. fetch failed$/],
    [brokenOff('{"petId":'), 'connection_failed', 200, /^The response was truncated\. t/],
    [brokenOff('{"code":', 503), 'service_unavailable', 503],
  ] as const)(
    'is made of any response of a proxy: %j',
    async (response, code, status, expected: RegExp | string = /\S/) => {
      const error = await fail(response);
      expect(error).toMatchObject({ code, status });
      const { message = '' } = Object(error.cause);
      expect(`${error.message} ${message}`.trim()).toMatch(expected);
      expect('cause' in error).toBe(message !== '');
    },
  );

  const at = (seconds: number) =>
    new Date(Date.UTC(2026, 0, 1, 12) + seconds * 1_000).toUTCString();

  it.each([
    ['7', at(0), 7],
    ['1.5', at(0), 2],
    ['soon', at(0), undefined],
    [at(30), at(0), 30],
    [at(-30), at(0), 0],
    ['1 Jan 1970', at(0), 0],
    ['Thu, 01 Jan 1970 00:00:40 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', 40],
  ])('reads Retry-After: %s in a response with the Date %s as %s seconds', async (...row) => {
    const [value, date, seconds] = row;
    const headers = { 'Retry-After': value, Date: date };
    const error = await fail(toError(503, 'service_unavailable', headers));
    expect(error.retryAfter).toBe(seconds);
  });

  it.each([undefined, 'soon'])('measures it by the local clock if Date is %s', async (date) => {
    const headers = new Headers({ 'Retry-After': new Date(Date.now() + 30_000).toUTCString() });
    if (date !== undefined) headers.set('Date', date);
    const own = async () => new Response('', { status: 503, headers });
    const call = standIn.open({ fetch: own, maxRetries: 0 }).getInventoryEntry(7n);
    const { retryAfter } = await call.catch((cause) => cause);
    expect(retryAfter).toBeGreaterThan(20);
    expect(retryAfter).toBeLessThanOrEqual(30);
  });

  it('refuses an invalid update before it is sent', async () => {
    const client = standIn.open();
    for (const quantity of [-1, 1.5, 2 ** 31, Number.NaN, '5' as never]) {
      const call = client.updateInventory(7n, { quantity });
      const message = `quantity must be an integer from 0 to 2147483647, not ${quantity}.`;
      const code = 'invalid_request';
      const refusal = { code, status: undefined, message, attempts: 0, effect: 'none' };
      await expect(call).rejects.toMatchObject(refusal);
    }
    for (const petId of [7, '7', undefined] as never[]) {
      for (const call of [
        client.getInventoryEntry(petId),
        client.listInventory({ petIds: [petId] }),
      ]) {
        const message = 'petId must be a bigint, such as 7n or BigInt("7").';
        await expect(call).rejects.toMatchObject({ code: 'invalid_request', message });
      }
    }
    expect(standIn.requests).toEqual([]);
  });
});

it.each(['', '/', '//', '/../a/v1', '/inventory/..//'])(
  'the base URL may end in /v1%s',
  async (end) => {
    standIn.responses = [{}];
    await standIn.open({ baseUrl: standIn.baseUrl + end, timeout: 2 ** 31 - 1 }).listOrders();
    const url = expect.stringMatching(/^(\/a)?\/v1\/store\/orders$/);
    expect(standIn.requests).toMatchObject([{ url }]);
  },
);

it('the API key is in no error and no warning', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const deprecated = { status: 503, body: '<html>', headers: { Deprecation: '@1' } };
  const errors = [await fail(lost), await fail(deprecated), await fail({ body: '{}' })];
  expect(warn.mock.calls).toEqual([["The pet store's operation getInventoryEntry is deprecated."]]);
  const text = inspect([errors, warn.mock.calls], { depth: null, showHidden: true });
  expect(text).not.toContain(apiKey);
  expect(standIn.requests.at(-1)?.headers.authorization).toBe(`Bearer ${apiKey}`);
});

describe('a foreign text', () => {
  /** Colours, a line of a log, C1 controls, bidirectional overrides, and invisible characters. */
  const tricks = [
    ...['\u001b[31m', '\r\nFAKE', '\u009b2J', '\u202e'],
    ...['\u2028', '\u2029', '\ud800', '\u{e0041}'],
  ];
  const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

  it.each(tricks)('brings no control character into a message: %j', async (trick) => {
    const own = toError(404, 'not_found', {}, `There is${trick} no pet.`);
    const pages = [trick, `<html>${trick}`, `{"id":${trick}`, `[${trick}]`, `{"id":"${trick}"}`];
    const errors = [await fail(own)];
    for (const body of pages) errors.push(await fail({ body }), await fail({ status: 403, body }));
    standIn.responses = [{ body: `[${trick}]` }];
    const list = standIn.open().listInventory();
    errors.push(await list.then(Object, (error) => error));
    const texts = errors.flatMap((error) => [error, error.cause as Error]).filter(Boolean);
    for (const { message } of texts) expect(message).not.toMatch(unsafe);
    // What a terminal gets of an uncaught error. Lines of the stack are the program's own.
    const printed = texts.map(({ stack }) => `${stack}`.replaceAll('\n    at ', ' ')).join('');
    expect(printed).not.toMatch(unsafe);
    expect(errors[0]?.message).toMatch(/^There is\ufffd*(FAKE|\[31m|2J)? no pet\.$/);
  });

  it.each(['"', '“猫”', 'é', '🐈', '…'])('keeps what people read: %s', async (text) => {
    const error = await fail(toError(404, 'not_found', {}, `There is ${text}.`));
    expect(error.message).toBe(`There is ${text}.`);
  });

  it('is cut if it is long, but the message still ends with what became of an update', async () => {
    standIn.responses = [toError(403, 'forbidden', {}, 'x'.repeat(1_000_000))];
    const error = await standIn
      .open()
      .updateInventory(7n, { quantity: 5 })
      .catch((cause) => cause);
    expect(error.message).toMatch(/^x{500}… The update was not applied by this call\.$/);
    const cut = await fail(toError(404, 'not_found', {}, '🐈'.repeat(1_000)));
    expect(cut.message).not.toMatch(unsafe);
    expect(cut.message.length).toBeLessThan(1_100);
  });

  it('of a header is as harmless, in an error and in a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const link = `<https://docs.example/\u009b2J>; rel="deprecation"`;
    const headers = { Deprecation: '@1', Link: link, 'X-Request-Id': 'id\u009b2J' };
    const error = await fail(toError(404, 'not_found', headers));
    expect(error.requestId).toBe('id\ufffd2J');
    expect(warn.mock.calls.flat().join()).toMatch(/: see https:\/\/docs\.example\/\ufffd2J$/);
  });
});

const since = new Date('2026-12-01T00:00:00Z');
const sunset = new Date('2027-12-01T00:00:00Z');
const guide = 'deprecations.html#getInventoryEntry';
const documentation = `https://docs.petstore.example/${guide}`;
const lifecycle = { kind: 'deprecated', since, sunset, guide } as const;
const headers = toLifecycleHeaders(lifecycle, 'https://docs.petstore.example');

it('each client warns once of a deprecated operation, with its sunset date', async () => {
  standIn.responses = [{ headers: { ...headers, ETag }, body: entry }];
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  for (const client of [standIn.open(), standIn.open()]) {
    warn.mockClear();
    await client.getInventoryEntry(7n);
    await client.getInventoryEntry(7n);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      `The pet store's operation getInventoryEntry is deprecated, and may be gone after ${sunset.toISOString()}: see ${documentation}`,
    );
  }
});

it('onDeprecation is called once for a deprecated operation, also with an error response', async () => {
  const reported: Deprecation[] = [];
  const client = standIn.open({ onDeprecation: (deprecation) => reported.push(deprecation) });
  standIn.responses = [
    toError(404, 'not_found', { ...headers, Link: `</next>; rel="next", ${headers.Link}` }),
    { headers: { Deprecation: 'sometime' } },
    {},
  ];
  await client.getInventoryEntry(7n).catch(() => {});
  await client.listOrders();
  await client.listInventory();
  expect(reported).toEqual([
    { operationId: 'getInventoryEntry', since, sunset, documentation },
    { operationId: 'listOrders', since: undefined, sunset: undefined, documentation: undefined },
  ]);
});
