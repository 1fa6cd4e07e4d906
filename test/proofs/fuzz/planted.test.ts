import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toErrorBody } from '../../../shared/contract/errorBody.ts';
import type { Failure } from './oracles/failure.ts';
import { defineHeapOracle, measureHeap } from './oracles/heapOracle.ts';
import { openShortRuns, type Plant, type ShortRuns } from './shortRun.ts';

/** Few, of which the first updates an entry. */
const RUNS = 80;

let short: ShortRuns;
let client: DynamoDBClient;
beforeAll(async () => {
  short = await openShortRuns();
  client = new DynamoDBClient();
});
afterAll(async () => {
  client?.destroy();
  await short?.target.close();
});

interface Result {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Changes what the operations but the streamed one answer, once they have answered. */
function afterAnswer(change: (result: Result, event: APIGatewayProxyEvent) => unknown): Plant {
  return async (operationId, handler, values) => {
    const result = (await handler(...values)) as Result;
    if (operationId === 'listInventory') return result;
    return (await change(result, values[0] as unknown as APIGatewayProxyEvent)) ?? result;
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

const errorOf = (code: 'internal_error' | 'service_unavailable' | 'not_found') => {
  const body = toErrorBody(code, 'Planted.');
  return (result: Result) => ({ ...result, statusCode: body.status, body: JSON.stringify(body) });
};

const write = (text: string) => void process.stderr.write(text);
const line = (message: object) =>
  `${JSON.stringify({ timestamp: 'now', level: 'INFO', message })}\n`;
let made = 0n;

describe('an oracle sees', () => {
  test.each<[string, Failure['oracle'], RegExp, Plant]>([
    ['a 500', 'status', /^500 .*Planted/, afterAnswer(errorOf('internal_error'))],
    [
      'a 503 that stays one',
      'status',
      /^503 .*Planted/,
      afterAnswer(errorOf('service_unavailable')),
    ],
    [
      'a function that throws',
      'status',
      /Planted/,
      afterAnswer(() => Promise.reject(new Error('Planted.'))),
    ],
    [
      'an error that is no Error',
      'body',
      /no JSON: <h1>/,
      afterAnswer((result) => result.statusCode === 400 && { ...result, body: '<h1>Bad</h1>' }),
    ],
    [
      'an Error with another status than its answer',
      'body',
      /no Error body/,
      afterAnswer((result) => result.statusCode === 400 && { ...result, statusCode: 401 }),
    ],
    [
      'a header that the document does not tell of',
      'body',
      /no header x-planted/,
      afterAnswer((result) => ({ ...result, headers: { ...result.headers, 'X-Planted': '1' } })),
    ],
    [
      'a refused update that stores',
      'store',
      /no answer told/,
      afterAnswer(async ({ statusCode }) => {
        if (statusCode === 400) await setEntry(short.target.petIds[0] ?? '', 123);
      }),
    ],
    [
      'an answered update that does not store',
      'store',
      /as it was before an update/,
      async (operationId, handler, values) => {
        if (operationId !== 'updateInventory') return handler(...values);
        const result = { headers: { ETag: '"AAAAAAA"' }, statusCode: 200 };
        const [petId = ''] = short.target.petIds;
        return { ...result, body: `{"petId":${petId},"quantity":5,"status":"sold"}` };
      },
    ],
    [
      'an entry that is made',
      'store',
      /beside the entries/,
      afterAnswer(() => {
        made += 1n;
        const Item = { p: { N: `${5n * 10n ** 17n + made}` }, q: { N: '1' }, s: { S: 'a' } };
        return client.send(new PutItemCommand({ TableName: 'inventory', Item })).then(() => {});
      }),
    ],
    [
      'a client’s text on a line of its own',
      'log',
      /line of its own/,
      afterAnswer((_, { body }) => write(`The body was ${body}\n`)),
    ],
    [
      'a client’s line break within a line',
      'log',
      /line of its own/,
      afterAnswer(() => write(`${line({ text: 'a' })}${line({ forged: true })}`)),
    ],
    [
      'an object that is none of the log’s',
      'log',
      /line of its own/,
      afterAnswer(() => write('{"forged":true}\n')),
    ],
    [
      'a request with two lines',
      'log',
      /^2 lines of one request/,
      afterAnswer(({ statusCode: status, headers }) =>
        write(line({ operation: 'getPet', requestId: headers['X-Request-Id'], status })),
      ),
    ],
    [
      'another key’s id',
      'log',
      /the key id 0123456789/,
      afterAnswer(({ statusCode: status, headers }) =>
        write(
          line({ operation: 'x', requestId: headers['X-Request-Id'], status, keyId: '0123456789' }),
        ),
      ),
    ],
    [
      'another status than was answered',
      'log',
      /status 404 of an answer with 200/,
      afterAnswer((result) =>
        result.statusCode === 404 ? { ...result, statusCode: 200, body: '{}' } : undefined,
      ),
    ],
    [
      'credentials in a line',
      'secret',
      /psk_/,
      afterAnswer((_, { headers }) => write(line({ authorization: headers?.Authorization ?? '' }))),
    ],
    [
      'what nobody catches',
      'crash',
      /Planted/,
      afterAnswer(() => void Promise.reject(new Error('Planted.'))),
    ],
  ])('%s', async (_, oracle, problem, plant) => {
    const { failures } = await short.run(RUNS, plant);
    const seen = failures.filter((failure) => failure.oracle === oracle);
    expect(seen.map((failure) => failure.problem).join('\n')).toMatch(
      new RegExp(problem.source, 'm'),
    );
  });

  test('an answer that does not come', async () => {
    // Over connections, the stage would wait for it when it ends.
    const plant: Plant = (operationId, handler, values) => {
      const { requestContext } = (values[0] ?? {}) as APIGatewayProxyEvent;
      const hangs = operationId === 'getPet' && requestContext?.requestId?.startsWith('fuzz-');
      return hangs ? new Promise(() => {}) : handler(...values);
    };
    const { failures } = await short.run(RUNS, plant, { deadlineMilliseconds: 2_000 });
    expect(failures).toEqual([
      {
        oracle: 'deadline',
        problem: expect.any(String),
        number: expect.any(Number),
        count: expect.any(Number),
      },
    ]);
  });

  test('memory that grows, and none that is held from the start or given back', () => {
    const judge = (samples: number[]) => {
      const oracle = defineHeapOracle(() => samples.shift() ?? 0);
      while (samples.length > 0) oracle.sample();
      return oracle.judge();
    };
    const megabytes = (values: number[]) => values.map((value) => value * 1024 * 1024);
    expect(judge(megabytes([40, 80, 90, 90, 91, 90, 90, 89, 90]))).toEqual([]);
    expect(judge(megabytes([40, 90, 40, 90, 40, 90, 40, 90, 40]))).toEqual([]);
    expect(judge(megabytes([40, 43, 46, 49, 52, 55, 58, 61, 64]))).toMatchObject([
      { oracle: 'heap', problem: expect.stringContaining('9.0 MB') },
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
  const plant = afterAnswer((result, { requestContext }) => {
    if (requestContext?.requestId !== 'fuzz-11-0') return undefined;
    planted += 1;
    return errorOf('service_unavailable')(result);
  });
  const { failures, late } = await short.run(RUNS, plant);
  expect(planted).toBe(1);
  expect(late).toBe(1);
  expect(failures.filter(({ oracle }) => oracle === 'status')).toEqual([]);
});
