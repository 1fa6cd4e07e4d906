import { randomUUID } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UNKNOWN_PATH } from '../../../../shared/contract/errorBody.ts';
import { type Fate, type ForeignResponse, startProxy } from '../../../support/faults/proxy.ts';
import { openLocalTarget } from '../../localTarget.ts';
import { readEntry } from '../../operations/operationSuite.ts';
import type { ConformanceTarget } from '../../target.ts';
import {
  DONE,
  type Ended,
  installed,
  REFUSED,
  type RunOptions,
  runSeller,
  type Seller,
  UNKNOWN,
  WRONG,
} from './sellers.ts';

/** Each sale has its own pets, so that all can run at once. */
const available = Array.from({ length: 100 }, (_, index) => BigInt(index));
const unsold = available.values();
const toPet = () => unsold.next().value ?? expect.fail('There are too few pets.');
const QUANTITY = 100;
const [untouched, pending, soldOut, missing] = [200n, 201n, 202n, 203n];

let target: ConformanceTarget;
beforeAll(async () => {
  const toEntry = (petId: bigint) => ({ petId, quantity: QUANTITY, status: 'available' }) as const;
  const inventory = [
    ...[...available, untouched].map(toEntry),
    { ...toEntry(pending), status: 'pending' as const },
    { ...toEntry(soldOut), quantity: 0 },
  ];
  target = await openLocalTarget({ data: { inventory, pets: [], orders: [] } });
});
afterAll(() => target?.close());

const quantityNow = async (petId: bigint) => (await readEntry(target, petId)).quantity;

describe.concurrent.each(installed)('%s', (file) => {
  const run = (words: readonly unknown[], options?: RunOptions) =>
    runSeller(target, file, words, options);

  it('sells and returns once for each key', async () => {
    const [one, other] = [toPet(), toPet()];
    const lines = [`${one}:-4`, `${other}:-2`];
    for (const words of [lines, lines.toReversed()]) {
      const { code, stdout } = await run([`${file}-1`, ...words]);
      expect(code).toBe(DONE);
      expect(stdout.replaceAll(' ', '')).toContain(`{"petId":${one},"quantity":${QUANTITY - 4}`);
    }
    expect((await run([`${file}-return`, `${one}:1`])).code).toBe(DONE);
    expect([await quantityNow(one), await quantityNow(other)]).toEqual([
      QUANTITY - 3,
      QUANTITY - 2,
    ]);
    const { code, stderr } = await run([`${file}-1`, `${one}:-1`]);
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining('another adjustment')]);
  });

  const most = 2n ** 31n - 1n;
  it.each<[string, unknown[], number, RegExp]>([
    ['a pet on hold', [`${pending}:-1`], REFUSED, /status \W*"pending\W*" and quantity 100/],
    ['a pet that is sold out', [`${soldOut}:-1`], REFUSED, /has quantity 0 \(asked for: 1\)/],
    ['too many units back', [`${untouched}:${most}`], REFUSED, /quantity/],
    ['an unknown pet', [`${missing}:-1`], REFUSED, /no inventory entry/],
    ['a pet twice', [`${untouched}:-1`, `${untouched}:-1`], WRONG, /twice: add its deltas/],
    ['other words', [`${untouched}:-1`, 'x'], WRONG, /such as 7:-1, not.*x/],
    ['zeros', [`0${untouched}:-1`], WRONG, /such as 7:-1/],
    ['no pets', [], WRONG, /such as 7:-1/],
  ])('changes nothing with %s, and says why', async (name, words, code, stderr) => {
    expect(await run([`${file}-${name.replaceAll(' ', '-')}`, ...words])).toEqual({
      code,
      stdout: '',
      stderr: expect.stringMatching(stderr),
    });
    expect(await quantityNow(untouched)).toBe(QUANTITY);
  });

  it.each(['', 'örder-1', 'order-1\nX-Other: 1', 'x'.repeat(256)])(
    'says that no header can carry the id %j',
    async (key) => {
      const { code, stderr } = await run([key, `${untouched}:-1`]);
      expect([code, stderr]).toEqual([WRONG, expect.stringContaining('1 to 255 visible ASCII')]);
    },
  );

  it.each(['', '/v1\u00e9/v1'])('does not call an address that ends in %j', async (path) => {
    const variables = { BASE_URL: target.baseUrl.replace('/v1', path) };
    const { code, stderr } = await run([`${file}-address`, `${untouched}:-1`], { variables });
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining('BASE_URL')]);
  });

  it('takes an address where nothing is for no refusal', async () => {
    const variables = { BASE_URL: `${target.baseUrl}/v1` };
    const { code, stderr } = await run([`${file}-address`, `${untouched}:-1`], { variables });
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining(UNKNOWN_PATH)]);
  });

  it.each(['KEY\n', '\ufeffKEY\r\n'])('takes a key from a file: %j', async (content) => {
    const petId = toPet();
    const variables = { API_KEY: content.replace('KEY', target.apiKey) };
    const words = [`${file}-${encodeURI(content)}`, `${petId}:-1`];
    const { code, stderr } = await run(words, { variables });
    expect([code, stderr]).toEqual([DONE, '']);
    expect(await quantityNow(petId)).toBe(QUANTITY - 1);
  });

  it.each(['', 'KEY\nKEY'])('names an invalid key, but does not print it: %j', async (content) => {
    const API_KEY = content.replaceAll('KEY', target.apiKey);
    const { code, stdout, stderr } = await run(['a', `${untouched}:-1`], {
      variables: { API_KEY },
    });
    expect([code, stdout, stderr]).toEqual([WRONG, '', expect.stringContaining('API_KEY')]);
    expect(stderr).not.toContain('psk_');
  });

  it.each([
    ['is not valid', () => 'psk_wrong', 'not valid'],
    ['may only read', () => target.readOnlyApiKey, 'write permission'],
  ])('says what to correct if the key %s', async (_, toApiKey, message) => {
    const variables = { API_KEY: toApiKey() };
    const { code, stderr } = await run([`${file}-2`, `${untouched}:-1`], { variables });
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining(message)]);
  });

  it.runIf(existsSync('/dev/full'))('has its status also if its output is lost', async () => {
    const sale = [`${file}-full`, `${toPet()}:-1`];
    const cases = [
      [sale, '>/dev/full', DONE],
      [sale, '>&-', DONE],
      [[`${file}-full-2`, `${soldOut}:-1`], '2>/dev/full', REFUSED],
    ] as const;
    for (const [words, redirection, code] of cases) {
      expect((await run(words, { redirection })).code, redirection).toBe(code);
    }
  });
});

type Decide = (request: { readonly headers: NodeJS.Dict<string | string[]> }) => Fate;

/** Sells a unit by an example behind a proxy that decides about its requests. */
async function sellBehind(
  decide: Decide,
  file: Seller,
  [petId, count]: readonly [petId: bigint, count: number] = [toPet(), 1],
): Promise<Ended & { petId: bigint; requests: number }> {
  const order = randomUUID();
  const keys: unknown[] = [];
  const proxy = await startProxy(target.baseUrl, (request) => {
    keys.push(request.headers['idempotency-key']);
    return decide(request);
  });
  const ended = await runSeller({ ...target, ...proxy }, file, [order, `${petId}:-${count}`]);
  proxy.close();
  expect(new Set(keys)).toEqual(new Set([order]));
  return { ...ended, petId, requests: keys.length };
}

/** Decides differently about the first request. */
function first(fate: Fate, later: Fate = 'passed'): Decide {
  let requests = 0;
  return () => (++requests === 1 ? fate : later);
}

const html = '<html>\u001b[31m Hello</html>';
const noTimeLeft = { headers: { 'Retry-After': '99' }, body: html };
/** An example judges by the pets that it asked for. */
const foreignPet = '{"entries":[{"petId":-1,"quantity":1,"status":"available"}]}';
const errorBody = (status: number, code: string, message = 'Gone.') =>
  JSON.stringify({ code, message, status });
/** What no example may print: control characters, or where its program failed. */
const unprintable = /[^ -~\n]|Traceback/;

/** The service does not send them, and each request takes effect. */
const foreignResponses: readonly [
  string,
  ForeignResponse | ((petId: bigint) => ForeignResponse),
][] = [
  ['a page with 200', { status: 200, body: html }],
  ['entries of another pet with 200', { status: 200, body: foreignPet }],
  [
    'its own entries with 201',
    (petId) => ({ status: 201, body: `{"entries":[{"petId":${petId}}]}` }),
  ],
  ['an error with 200', { status: 200, body: errorBody(409, 'insufficient_stock') }],
  ['AWS’s 403', { status: 403, body: '{"message":"Forbidden"}' }],
  ['a load balancer’s 404', { status: 404, body: '{"code":"not_found","message":"Gone"}' }],
  ['another API’s 404', { status: 404, body: errorBody(404, 'no_such_route') }],
  ['a 404 about another status', { status: 404, body: errorBody(409, 'insufficient_stock') }],
  ['a 409 with the code of a 404', { status: 409, body: errorBody(409, 'not_found') }],
  ['a truncated 409', { status: 409, body: errorBody(409, 'not_for_sale').slice(0, -9) }],
  ['deep JSON', { status: 404, body: '['.repeat(100_000) }],
  ['a 503 without end', { status: 503, ...noTimeLeft }],
  ['an endless pause', { status: 503, headers: { 'Retry-After': '9'.repeat(5_000) } }],
];

describe.concurrent.each(installed)('%s behind a proxy', (file) => {
  const truncated = { 'Content-Length': '99', Connection: 'close' };
  it('waits after each transient response, and sells', async () => {
    const fates: Fate[] = [
      { status: 408, body: html },
      { status: 429, headers: { 'Retry-After': new Date().toUTCString() } },
      { status: 503, headers: { 'Retry-After': '1' } },
      { status: 503, headers: { 'Retry-After': '0.5' } },
      { status: 200, headers: truncated, body: '{"entries":[{"petId":' },
    ];
    const count = fates.length + 1;
    const { code, petId, requests } = await sellBehind(() => fates.shift() ?? 'passed', file);
    expect([code, requests]).toEqual([DONE, count]);
    expect(await quantityNow(petId)).toBe(QUANTITY - 1);
  });

  it('knows a refusal of the service, also after a lost response', async () => {
    const tooMany = [toPet(), QUANTITY + 1] as const;
    const { code, requests } = await sellBehind(first('responseLost'), file, tooMany);
    expect([code, requests]).toEqual([REFUSED, 2]);
  });

  it.each<[string, number, (petId: bigint) => ForeignResponse]>([
    [
      'a sale',
      DONE,
      (petId) => ({ status: 200, body: `{"now":1,"entries":[{"quantity":9,"petId":${petId}}]}` }),
    ],
    [
      'a refusal',
      REFUSED,
      () => ({
        status: 409,
        body: '{"status":409,"refused":[{"code":"not_for_sale"}],"code":"insufficient_stock","now":1}',
      }),
    ],
  ])('reads %s with a new member, in another order', async (_, status, respond) => {
    const petId = toPet();
    const { code } = await sellBehind(() => respond(petId), file, [petId, 1]);
    expect(code).toBe(status);
  });

  it('says that another cart has the key, also after a lost response: this one never took effect', async () => {
    const reused = { status: 422, body: errorBody(422, 'idempotency_key_reused', 'Reused.') };
    const { code, stderr } = await sellBehind(first('responseLost', reused), file);
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining('Reused.')]);
    expect(stderr).not.toContain('It may or may not have happened');
  });

  it('says what to correct in release 2.0 of the service too, but not after a lost response', async () => {
    // It says `not_found` under a wrong address.
    const message = `${UNKNOWN_PATH} The base URL ends in /v1.`;
    const mistake = { status: 404, body: errorBody(404, 'not_found', message) };
    const { code, stderr } = await sellBehind(() => mistake, file);
    expect([code, stderr]).toEqual([WRONG, expect.stringContaining(message)]);
    const lost = await sellBehind(first('responseLost', mistake), file);
    expect([lost.code, lost.requests]).toEqual([UNKNOWN, 2]);
    expect(lost.stderr).toContain('It may or may not have happened');
  });

  it.each(foreignResponses)('does not know of a sale after %s', async (_, response) => {
    const petId = toPet();
    const fate = typeof response === 'function' ? response(petId) : response;
    const { stdout, stderr, code, requests } = await sellBehind(() => fate, file, [petId, 1]);
    expect([stdout, code, requests]).toEqual(['', UNKNOWN, 1]);
    expect(stderr).toContain('It may or may not have happened: run this again');
    expect(stderr).not.toMatch(unprintable);
    expect(await quantityNow(petId)).toBe(QUANTITY - 1);
  });

  it('says after a 429 alone that this run has changed nothing', async () => {
    const throttled = { ...noTimeLeft, status: 429, body: errorBody(429, 'too_many_requests') };
    let fate: Fate = throttled;
    const { code, stderr, requests } = await sellBehind(() => fate, file);
    expect([code, requests]).toEqual([UNKNOWN, 1]);
    expect(stderr).toMatch(/^This run has changed nothing: run it again.*Gone/);
    fate = 'responseLost';
    const lost = await sellBehind(() => {
      const current = fate;
      fate = throttled;
      return current;
    }, file);
    expect([lost.code, lost.requests]).toEqual([UNKNOWN, 2]);
    expect(lost.stderr).toContain('It may or may not have happened: run this again');
  });

  it('sends the key to no other server', async () => {
    const keys: unknown[] = [];
    const elsewhere = await startProxy(target.baseUrl, ({ headers }) => {
      keys.push(headers.authorization);
      return 'passed';
    });
    // curl would follow the second one with the sale, Python only the first.
    for (const status of [302, 308]) {
      const headers = { Location: `${elsewhere.baseUrl}/inventory/adjustments` };
      const { stdout, code } = await sellBehind(() => ({ status, headers }), file);
      expect([stdout, code]).toEqual(['', UNKNOWN]);
    }
    elsewhere.close();
    expect(keys).toEqual([]);
  });

  it('shows the key to no other user, and prints none that a server sends back', async () => {
    const commands: string[] = [];
    const { stdout, stderr } = await sellBehind(({ headers }) => {
      commands.push(readCommands());
      const body = JSON.stringify({ ...headers, message: headers.authorization });
      return { ...noTimeLeft, status: 500, body };
    }, file);
    expect(stdout + stderr).not.toContain('psk_');
    expect(commands).toHaveLength(1);
    if (existsSync('/proc/self/cmdline')) expect(commands[0]).toContain(file);
    expect(commands[0]).not.toContain(target.apiKey);
  });
});

/** What `ps` shows to every user, on Linux. */
function readCommands(): string {
  return globSync('/proc/[0-9]*/cmdline').map(readCommand).join('\n');
}

function readCommand(file: string): string {
  try {
    return readFileSync(file, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended.
    return '';
  }
}
