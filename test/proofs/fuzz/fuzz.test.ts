import { setTimeout as pause } from 'node:timers/promises';
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import type { LoadHandler } from '../../../infra/local/lambda/lambdaFunction.ts';
import { toErrorBody } from '../../../shared/contract/errorBody.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { defineFreshFunctions } from '../../conformance/localTarget.ts';
import { arbitraryDraft, type EventCase, type FuzzCase, type SocketCase } from './cases.ts';
import { findHeapProblems, measureHeap } from './oracles.ts';
import { type FuzzOptions, runFuzz } from './runFuzz.ts';
import { captureLog, type FuzzTarget, openFuzzTarget, petIds } from './target.ts';

type Handler = (...values: never[]) => Promise<unknown>;
/** Takes the place of a handler, which it may call. */
type Plant = (operationId: OperationId, handler: Handler, values: never[]) => Promise<unknown>;

const SEED = 11;

let target: FuzzTarget;
let client: DynamoDBClient;
let plant: Plant | undefined;

beforeAll(async () => {
  const loadFresh = defineFreshFunctions();
  const loadHandler: LoadHandler = async (id) => {
    const { handler } = (await loadFresh(id)) as { handler: Handler };
    return (...values: never[]) => (plant ? plant(id, handler, values) : handler(...values));
  };
  target = await openFuzzTarget(startEmbeddedEngine, loadHandler);
  client = new DynamoDBClient();
});
afterAll(async () => {
  client?.destroy();
  await target?.close();
});

async function run(runs: number, planted?: Plant, options: Partial<FuzzOptions> = {}) {
  using log = captureLog();
  plant = planted;
  try {
    const report = await runFuzz(target, log, {
      seed: SEED,
      runs,
      deadlineMilliseconds: 20_000,
      ...options,
    });
    return { ...report, text: report.problems.join('\n') };
  } finally {
    plant = undefined;
  }
}

/** One batch, as it is: to shrink it takes a while. */
const runOneBatch = (planted: Plant, options: Partial<FuzzOptions> = {}) =>
  run(1, planted, { path: '0', maxBatch: 256, ...options });

test('a thousand cases find nothing, and meet each kind of answer', async () => {
  const { text, statuses, cases, logLines } = await run(1_400);
  expect(text).toBe('');
  expect(cases).toBeGreaterThan(1_000);
  for (const status of [200, 400, 401, 403, 404, 405, 412, 415]) {
    expect(statuses.get(status), `answers of ${status}`).toBeGreaterThan(0);
  }
  // Cases that left or were broken have none.
  expect(logLines).toBeGreaterThan(0.9 * cases);
});

describe('the cases', () => {
  const facts = { resolve: (name: string) => name, nextRequestId: () => 'id' };
  const drafts = fc.sample(fc.noBias(arbitraryDraft(petIds)), { numRuns: 30_000, seed: SEED });
  const cases = drafts.map((draft) => draft(facts));
  const events = cases.filter((one): one is EventCase => one.transport === 'event');
  const sockets = cases.filter((one): one is SocketCase => one.transport === 'socket');
  const toBytes = ({ chunks }: SocketCase) => Buffer.concat(chunks).toString('latin1');
  const hasBody = (text: string) => (one: FuzzCase) => one.request.body?.includes(text) ?? false;

  test.each<[string, (one: FuzzCase) => boolean]>([
    ['a member named constructor', hasBody('"constructor"')],
    ['a member named __proto__', hasBody('"__proto__"')],
    ['deep nesting', hasBody('['.repeat(900))],
    ['invalid JSON', hasBody('{"quantity":5,}')],
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
    ['with a body that is no text', ({ event }) => Array.isArray(event.body)],
  ])('have events %s', (_, isSuch) => {
    expect(events.some(isSuch)).toBe(true);
  });

  test.each<[string, (one: SocketCase) => boolean]>([
    ['half a request', ({ framing }) => framing === 'half'],
    ['a request in two packets', ({ framing, chunks }) => framing === 'whole' && chunks.length > 1],
    ['a client that leaves', ({ framing }) => framing === 'left'],
    ['chunks', (one) => /Transfer-Encoding: chunked/.test(toBytes(one))],
    ['two lengths', (one) => /Content-Length: \d+\r\nContent-Length/.test(toBytes(one))],
    ['an expectation', (one) => toBytes(one).includes('Expect: x')],
    ['headers past the gateway’s limit', (one) => toBytes(one).length > 10_240],
    [
      'names of headers in odd cases',
      (one) => /\r\n(?=[a-z]+[A-Z])[a-zA-Z-]+: /.test(toBytes(one)),
    ],
    ['a body said to be compressed', (one) => /\r\ncontent-encoding: gzip/i.test(toBytes(one))],
    ['bytes that are no HTTP', (one) => toBytes(one).startsWith('\u0016\u0003')],
  ])('send %s', (_, isSuch) => {
    expect(sockets.some(isSuch)).toBe(true);
  });
});

interface Result {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Changes what the operations but the streamed one answer; nothing, where `change` returns nothing. */
function afterAnswer(change: (result: Result, event: APIGatewayProxyEvent) => unknown): Plant {
  return async (operationId, handler, values) => {
    const result = (await handler(...values)) as Result;
    if (operationId === 'listInventory') return result;
    return (await change(result, values[0] as unknown as APIGatewayProxyEvent)) || result;
  };
}

const setEntry = (petId: string, quantity: number) =>
  client.send(
    new UpdateItemCommand({
      TableName: 'inventory',
      Key: { p: { N: petId } },
      UpdateExpression: 'SET q = :q',
      ExpressionAttributeValues: { ':q': { N: String(quantity) } },
    }),
  );

const errorOf = (code: 'internal_error' | 'service_unavailable') => {
  const body = toErrorBody(code, 'Planted.');
  return (result: Result) => ({ ...result, statusCode: body.status, body: JSON.stringify(body) });
};

const write = (text: string) => void process.stderr.write(text);
const line = (message: object) =>
  `${JSON.stringify({ timestamp: 'now', level: 'INFO', message })}\n`;
const isOf = (code: number) => (result: Result) => result.statusCode === code;

describe('an oracle sees', () => {
  test.each<[string, RegExp, Plant]>([
    ['a 500', /^status: 500 .*Planted/, afterAnswer(errorOf('internal_error'))],
    ['a 503 that stays one', /^status: 503 .*Planted/, afterAnswer(errorOf('service_unavailable'))],
    [
      'a function that throws',
      /^status: .*Planted/,
      afterAnswer(() => Promise.reject(new Error('Planted.'))),
    ],
    [
      'an error that is no Error',
      /^body: .*invalid JSON: <h1>/,
      afterAnswer((result) => isOf(400)(result) && { ...result, body: '<h1>Bad</h1>' }),
    ],
    [
      'an Error with another status than its answer',
      /^body: .*no Error body/,
      afterAnswer((result) => isOf(400)(result) && { ...result, statusCode: 401 }),
    ],
    [
      'a header that the document does not have',
      /^body: .*no header x-planted/,
      afterAnswer((result) => ({ ...result, headers: { ...result.headers, 'X-Planted': '1' } })),
    ],
    [
      'a refused update that stores',
      /^store: .*no answer said/,
      afterAnswer(async (result) => {
        if (isOf(400)(result)) await setEntry(petIds[0] ?? '', 123);
      }),
    ],
    [
      'an answered update that does not store',
      /^store: .*as it was before an update/,
      async (operationId, handler, values) => {
        if (operationId !== 'updateInventory') return handler(...values);
        const body = `{"petId":${petIds[0]},"quantity":5,"status":"sold"}`;
        return { headers: { ETag: '"AAAAAAA"' }, statusCode: 200, body };
      },
    ],
    [
      'a client’s text on a line of its own',
      /^log: .*line of its own/,
      afterAnswer((_, { body }) => write(`The body was ${body}\n`)),
    ],
    [
      'a client’s line break within a line',
      /^log: .*line of its own/,
      afterAnswer(() => write(`${line({ text: 'a' })}${line({ forged: true })}`)),
    ],
    [
      'an object that is none of the log’s',
      /^log: .*line of its own/,
      afterAnswer(() => write('{"forged":true}\n')),
    ],
    [
      'a request with two lines',
      /^log: 2 lines of one request/,
      afterAnswer(({ statusCode: status, headers }) =>
        write(line({ operation: 'getPet', requestId: headers['X-Request-Id'], status })),
      ),
    ],
    [
      'another key’s id',
      /^log: the key id/,
      afterAnswer(({ statusCode: status, headers }) =>
        write(
          line({ operation: 'x', requestId: headers['X-Request-Id'], status, keyId: '0123456789' }),
        ),
      ),
    ],
    [
      'a request without a line',
      /^log: 0 lines of one request/,
      afterAnswer((result) => {
        const own = result.headers['X-Request-Id'] ?? '';
        return { ...result, headers: { ...result.headers, 'X-Request-Id': `${own}-changed` } };
      }),
    ],
    [
      'another status than was answered',
      /^log: status 404 of an answer with 200/,
      afterAnswer((result) => isOf(404)(result) && { ...result, statusCode: 200, body: '{}' }),
    ],
    [
      'credentials in a line',
      /^secret: .*psk_/,
      afterAnswer((_, { headers }) => write(line({ authorization: headers?.Authorization ?? '' }))),
    ],
    ['what nobody catches', /^crash: .*Planted/, afterAnswer(() => void Promise.reject('Planted'))],
  ])('%s', async (_, problem, planted) => {
    const { text } = await runOneBatch(planted);
    expect(text).toMatch(new RegExp(problem.source, 'm'));
  });

  test('an answer that does not come in time', async () => {
    const planted: Plant = async (operationId, handler, values) => {
      if (operationId === 'getPet') await pause(1_500);
      return handler(...values);
    };
    const { text } = await runOneBatch(planted, { deadlineMilliseconds: 1_000 });
    expect(text).toMatch(/^deadline: no answer/m);
  });

  test('an entry that is made', async () => {
    const Item = { p: { N: '500000000000000001' }, q: { N: '1' }, s: { S: 'a' } };
    const planted = afterAnswer(async () => {
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
    });
    expect((await runOneBatch(planted)).text).toMatch(/^store: .*beside the entries/m);
  });

  test('memory that grows, and none that is held from the start or given back', () => {
    const judge = (samples: number[]) =>
      findHeapProblems(samples.map((value) => value * 1024 * 1024));
    expect(judge([40, 80, 90, 90, 91, 90, 90, 89, 90])).toEqual([]);
    expect(judge([40, 90, 40, 90, 40, 90, 40, 90, 40])).toEqual([]);
    expect(judge([40, 43, 46, 49, 52, 55, 58, 61, 64])).toEqual([
      expect.stringContaining('heap: 9.0 MB'),
    ]);
  });

  test('memory as it is after a collection', () => {
    const before = measureHeap();
    const kept = Array.from({ length: 200 }, () => Buffer.alloc(100_000, 1));
    expect(measureHeap() - before).toBeGreaterThan(15_000_000);
    expect(kept.length).toBe(200);
  });
});

test('a 503 that does not come again is counted, and is no failure', async () => {
  let planted = 0;
  const { text, late } = await runOneBatch(
    afterAnswer((result) => {
      planted += 1;
      return planted === 1 ? errorOf('service_unavailable')(result) : undefined;
    }),
  );
  expect(late).toBe(1);
  expect(text).toBe('');
});

test('a failure shrinks to a case, or that and one behind it, which its path repeats', async () => {
  const planted = afterAnswer((result) => isOf(404)(result) && errorOf('internal_error')(result));
  const { failure } = await run(400, planted, { maxBatch: 64 });
  const shrunk = failure?.cases.length ?? 0;
  expect([1, 2]).toContain(shrunk);
  const again = await run(1, planted, { path: failure?.path ?? '', maxBatch: 64 });
  expect(again.text).toMatch(/^status: 500 .*Planted/);
  expect(again.cases).toBe(shrunk);
});
