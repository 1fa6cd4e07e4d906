import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statusOfCode, UNKNOWN_PATH } from '../../../../shared/contract/errorBody.ts';
import { type Fate, type ForeignResponse, startProxy } from '../../../support/faults/proxy.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import { type ConformanceTarget, fixtures, sendUpdate } from '../../target.ts';
import {
  DONE,
  type Ended,
  installed,
  REFUSED,
  runSeller,
  type Seller,
  type Shop,
  startShop,
  UNKNOWN,
  WRONG,
} from './sellers.ts';

/** Each concurrent test has its own pet. */
const [petId = 0n, ...more] = fixtures.inventory
  .filter(({ status }) => status === 'available')
  .map((entry) => entry.petId);

let target: ConformanceTarget;
const { toPath } = openTemporaryFolder();
beforeAll(async () => {
  target = await openLocalTarget();
});
afterAll(() => target?.close());

const stock = (id: bigint) => sendUpdate(target, id, '{"quantity":5}');
const quantityNow = async (id: bigint) => (await readEntry(target, id)).quantity;

type Decide = (request: { readonly headers: NodeJS.Dict<string | string[]> }) => Fate;

/** Sells a piece by an example behind a proxy that decides about its requests. */
async function sellBehind(
  decide: Decide,
  file: Seller,
  id = petId,
  order: string = randomUUID(),
): Promise<Ended & { requests: number }> {
  let requests = 0;
  const proxy = await startProxy(target.baseUrl, (request) => {
    requests += 1;
    return decide(request);
  });
  const ended = await runSeller({ ...target, ...proxy }, file, [order, `${id}:-1`]);
  proxy.close();
  return { ...ended, requests };
}

const html = '<html>\u001b[31m Hello</html>';
const noTimeLeft = { headers: { 'Retry-After': '99' }, body: html };
const entries = '[{"petId":0,"quantity":1,"status":"available"}]';
const errorBody = (status: number, code: string, message = 'Gone.') =>
  JSON.stringify({ code, message, status });
/** What no example may print: control characters, or where its program failed. */
const unprintable = /[^ -~\n]|Traceback/;

/** The service does not send them, and each request takes effect. */
const foreignResponses: readonly [string, ForeignResponse][] = [
  ['a page with 200', { status: 200, body: html }],
  ['entries of another pet with 200', { status: 200, body: `{"entries":${entries}}` }],
  ['its own entries with 201', { status: 201, body: `{"entries":[{"petId":${petId}}]}` }],
  ['an error with 200', { status: 200, body: errorBody(409, 'insufficient_stock') }],
  ['no body with 200', { status: 200 }],
  ['AWS’s 403', { status: 403, body: '{"message":"Forbidden"}' }],
  ['the gateway’s 413', { status: 413, body: '{"message":"Request Too Long"}' }],
  ['a load balancer’s 404', { status: 404, body: '{"code":"not_found","message":"Gone"}' }],
  ['another API’s 404', { status: 404, body: errorBody(404, 'no_such_route') }],
  ['a 404 about another status', { status: 404, body: errorBody(409, 'insufficient_stock') }],
  ['a 409 with the code of a 404', { status: 409, body: errorBody(409, 'not_found') }],
  ['a truncated 409', { status: 409, body: errorBody(409, 'not_for_sale').slice(0, -9) }],
  ['a redirect', { status: 302, headers: { Location: '/v1/inventory' } }],
  ['deep JSON', { status: 404, body: '['.repeat(100_000) }],
  ['a 503 without end', { status: 503, ...noTimeLeft }],
  ['an endless pause', { status: 503, headers: { 'Retry-After': '9'.repeat(5_000) } }],
];

describe.each(installed)('%s', (file) => {
  it.each(foreignResponses)('does not know of a sale after %s', async (_, response) => {
    await stock(petId);
    const { stdout, stderr, code, requests } = await sellBehind(() => response, file);
    expect([stdout, code, requests]).toEqual(['', UNKNOWN, 1]);
    expect(stderr).toContain('It may or may not have happened: run this again');
    expect(stderr).not.toMatch(unprintable);
    expect(await quantityNow(petId)).toBe(4);
  });

  it('finds out in the next run', async () => {
    await stock(petId);
    const order = randomUUID();
    for (const [fate, expected] of [
      [{ status: 200, body: html }, UNKNOWN],
      ['passed', DONE],
    ] as const) {
      expect((await sellBehind(() => fate, file, petId, order)).code).toBe(expected);
      expect(await quantityNow(petId)).toBe(4);
    }
  });

  it('takes a truncated response for a lost one', async () => {
    await stock(petId);
    const headers = { 'Content-Length': '99', Connection: 'close' };
    const truncated = { status: 200, headers, body: `{"entries":[{"petId":${petId}` };
    let isFirst = true;
    const { code, requests } = await sellBehind(() => {
      if (!isFirst) return 'passed';
      isFirst = false;
      return truncated;
    }, file);
    expect([code, requests]).toEqual([DONE, 2]);
    expect(await quantityNow(petId)).toBe(4);
  });

  const mistakes = [
    ['invalid_request', 400],
    ['unknown_path', 404],
    ['not_found', 404],
    ['idempotency_key_reused', 422],
  ] as const satisfies readonly (readonly [keyof typeof statusOfCode, number])[];
  it.each(mistakes)(
    'says what to correct after %s, but not after a lost response',
    async (own, status) => {
      expect(statusOfCode[own]).toBe(status);
      // Under a wrong address, release 2.0 of the service says `not_found`.
      const message = status === 404 ? `${UNKNOWN_PATH} The base address ends in /v1.` : 'No.';
      const mistake = { status, body: errorBody(status, own, message) };
      const { code, stderr } = await sellBehind(() => mistake, file);
      expect([code, stderr]).toEqual([WRONG, expect.stringContaining(message)]);
      let isFirst = true;
      const lost = await sellBehind(() => {
        if (!isFirst) return mistake;
        isFirst = false;
        return 'responseLost';
      }, file);
      expect([lost.code, lost.requests]).toEqual([UNKNOWN, 2]);
      expect(lost.stderr).toContain('It may or may not have happened');
    },
  );

  it.each([404, 500])('prints no API key that a server sends back with %i', async (status) => {
    const headers = { 'Retry-After': '99' };
    const { stdout, stderr } = await sellBehind(
      (request) => ({
        status,
        headers,
        body: JSON.stringify({ ...request.headers, message: request.headers.authorization }),
      }),
      file,
    );
    expect(stdout + stderr).not.toContain('psk_');
  });

  it('sends the key to no other server', async () => {
    const keys: unknown[] = [];
    const elsewhere = await startProxy(target.baseUrl, ({ headers }) => {
      keys.push(headers.authorization);
      return 'passed';
    });
    const headers = { Location: `${elsewhere.baseUrl}/inventory/adjustments` };
    for (const status of [302, 308]) {
      expect((await sellBehind(() => ({ status, headers }), file)).stdout).toBe('');
    }
    elsewhere.close();
    expect(keys).toEqual([]);
  });

  it.runIf(existsSync('/proc/self/cmdline'))('shows the key to no other user', async () => {
    const commands: string[] = [];
    await sellBehind(() => {
      commands.push(readCommands());
      return { status: 404, body: html };
    }, file);
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain(file);
    expect(commands[0]).not.toContain(target.apiKey);
  });

  it.concurrent.each(
    (
      [
        [408, 'soon'],
        [408, undefined],
        [429, 'a date'],
        [503, '1'],
        [503, '0.5'],
      ] as const
    ).map((row, index) => [...row, more[index] ?? 0n] as const),
  )('waits after %i with Retry-After: %s, and sells', async (status, text, id) => {
    let isFirst = true;
    const refuse = (): Fate => {
      isFirst = false;
      const soon = new Date(Date.now() + 2_000).toUTCString();
      const headers = text && { 'Retry-After': text === 'a date' ? soon : text };
      return { status, body: html, ...(headers && { headers }) };
    };
    await stock(id);
    const { code, requests } = await sellBehind(() => (isFirst ? refuse() : 'passed'), file, id);
    expect([code, requests]).toEqual([DONE, 2]);
    expect(await quantityNow(id)).toBe(4);
  });

  it('knows a refusal of the service, also after a lost response', async () => {
    await sendUpdate(target, petId, '{"quantity":0}');
    let isFirst = true;
    const { code, requests } = await sellBehind(() => {
      if (!isFirst) return 'passed';
      isFirst = false;
      return 'responseLost';
    }, file);
    expect([code, requests]).toEqual([REFUSED, 2]);
  });
});

describe('shop.ts', () => {
  let fate: Fate;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let shop: Shop;
  beforeAll(async () => {
    proxy = await startProxy(target.baseUrl, () => fate);
    shop = await startShop({ ...target, ...proxy }, toPath('shop.db'));
  });
  afterAll(async () => {
    await shop?.kill();
    proxy?.close();
  });

  it.each(foreignResponses)('keeps a sale open after %s', async (_, response) => {
    await stock(petId);
    const id = randomUUID();
    const sell = async () => (await shop.call('PUT', `/${id}`, `{"${petId}":1}`)).status;
    fate = response;
    expect(await sell()).toBe(202);
    expect(await shop.listSteps(id)).toEqual([
      expect.objectContaining({ state: 'open', reason: null }),
    ]);
    fate = 'passed';
    expect(await sell()).toBe(200);
    expect(await quantityNow(petId)).toBe(4);
  });
});

/** What `ps` shows to every user. */
function readCommands(): string {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(readCommand).join('\n');
}

function readCommand(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
}
