import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventCase, FuzzCase, SocketCase } from './cases/fuzzCase.ts';
import { makeCase } from './cases/makeCase.ts';
import { openShortRuns, type ShortRuns, shortSeed } from './shortRun.ts';

let short: ShortRuns;
beforeAll(async () => {
  short = await openShortRuns();
});
afterAll(() => short?.target.close());

describe('a short run', () => {
  test('finds nothing, and meets each kind of answer', async () => {
    const { failures, statuses, cases, logLines } = await short.run(1_000);
    expect(failures).toEqual([]);
    expect(cases).toBe(1_000);
    for (const status of [200, 400, 401, 403, 404, 405, 412, 415]) {
      expect(statuses.get(status), `answers of ${status}`).toBeGreaterThan(0);
    }
    // Of those that reached a function or the gateway's own answers; left and broken ones have none.
    expect(logLines).toBeGreaterThan(900);
  });

  test('is the same again from any case on, but for keys and tags', async () => {
    const seen: [number, string, number][][] = [[], []];
    for (const [run, first] of [100, 190].entries()) {
      await short.run(200 - first, undefined, {
        first,
        onOutcome: ({ one: { number, request }, answer }) => {
          if (number < 190 || !answer) return;
          seen[run]?.push([number, `${request.method} ${request.path}`, answer.status]);
        },
      });
    }
    const [whole, end] = seen.map((answers) => answers.sort(([one], [other]) => one - other));
    expect(end?.length).toBeGreaterThan(5);
    expect(end).toEqual(whole);
  });
});

describe('the cases', () => {
  const facts = {
    keys: { write: ['psk_w'], read: ['psk_r'] },
    petIds: ['7'],
    tagOf: () => '"tag"',
  };
  const cases = Array.from({ length: 6_000 }, (_, number) => makeCase(shortSeed, number, facts));
  const events = cases.filter((one): one is EventCase => one.transport === 'event');
  const sockets = cases.filter((one): one is SocketCase => one.transport === 'socket');
  const toBytes = ({ chunks }: SocketCase) => Buffer.concat(chunks).toString('latin1');
  const hasBody = (text: string) => (one: FuzzCase) => one.request.body?.includes(text) ?? false;

  test('are others with another seed', () => {
    const toPaths = (seed: number) =>
      Array.from({ length: 20 }, (_, number) => makeCase(seed, number, facts).request.path);
    expect(toPaths(shortSeed)).toEqual(toPaths(shortSeed));
    expect(toPaths(shortSeed + 1)).not.toEqual(toPaths(shortSeed));
  });

  test.each<[string, (one: FuzzCase) => boolean]>([
    ['a member named constructor', hasBody('"constructor"')],
    ['a member named __proto__', hasBody('"__proto__"')],
    ['deep nesting', hasBody('['.repeat(900))],
    ['broken JSON', hasBody('{"quantity":5,}')],
    ['a byte order mark', hasBody('\ufeff')],
    ['the end of int64', hasBody('9223372036854775808')],
    ['the end of int32', hasBody('2147483648')],
  ])('have bodies with %s', (_, isSuch) => {
    expect(cases.some(isSuch)).toBe(true);
  });

  test.each<[string, (one: EventCase) => boolean]>([
    ['without headers', ({ event }) => event.multiValueHeaders === null],
    [
      'with headers that are no array',
      ({ event }) => typeof event.multiValueHeaders?.Authorization === 'string',
    ],
    ['without a context', ({ withoutContext }) => withoutContext],
    ['without a request context', ({ event }) => event.requestContext === undefined],
    ['with a body in base64', ({ event }) => event.isBase64Encoded],
    [
      'with a body that is no text',
      ({ event }) => typeof event.body === 'object' && event.body !== null,
    ],
  ])('have events %s', (_, isSuch) => {
    expect(events.some(isSuch)).toBe(true);
  });

  test.each<[string, (one: SocketCase) => boolean]>([
    ['half a request', ({ framing }) => framing === 'half'],
    ['a client that leaves', ({ framing }) => framing === 'left'],
    ['chunks', (one) => /Transfer-Encoding: chunked/.test(toBytes(one))],
    ['two lengths', (one) => /Content-Length: \d+\r\nContent-Length/.test(toBytes(one))],
    ['an expectation', (one) => toBytes(one).includes('Expect: x')],
    ['headers past the gateway’s limit', (one) => toBytes(one).length > 10_240],
    [
      'names of headers in odd cases',
      (one) => /\r\n(?=[a-z]*[A-Z])[a-zA-Z-]+: /.test(toBytes(one)),
    ],
    ['a body said to be compressed', (one) => /\r\ncontent-encoding: gzip/i.test(toBytes(one))],
    ['bytes that are no HTTP', (one) => toBytes(one).startsWith('\u0016\u0003')],
  ])('send %s', (_, isSuch) => {
    expect(sockets.some(isSuch)).toBe(true);
  });
});
