import { randomUUID } from 'node:crypto';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbeddedEngine } from '../../../infra/local/engine/engine.ts';
import { toErrorBody } from '../../../shared/contract/errorBody.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { defineFreshFunctions } from '../../conformance/localTarget.ts';
import { onFastClock } from '../../support/faults/clock.ts';
import { type FuzzOptions, runFuzz } from './runFuzz.ts';
import { captureLog, type FuzzTarget, type Handler, openFuzzTarget, petIds } from './target.ts';

/** Replaces a handler, and may call it. */
type Plant = (operationId: OperationId, handler: Handler, values: never[]) => Promise<unknown>;

let target: FuzzTarget;
let client: DynamoDBClient;
let plant: Plant | undefined;

beforeAll(async () => {
  const loadFresh = defineFreshFunctions();
  target = await openFuzzTarget(startEmbeddedEngine, async (id) => {
    const { handler } = await loadFresh(id);
    const planted: Handler = (...values) =>
      plant ? plant(id, handler, values) : handler(...values);
    return { handler: planted };
  });
  client = new DynamoDBClient();
});
afterAll(async () => {
  client?.destroy();
  await target?.close();
});

async function run(options: Partial<FuzzOptions>, planted?: Plant) {
  using log = captureLog();
  plant = planted;
  try {
    const limits = { seed: 11, runs: 1, deadlineMilliseconds: 20_000 };
    // On a busy machine, calls end in time by this clock.
    const fuzz = () => runFuzz(target, log, { ...limits, ...options });
    const report = await onFastClock(fuzz, 1);
    return { ...report, text: report.problems.join('\n') };
  } finally {
    plant = undefined;
  }
}

test('six hundred cases find no problem and get every kind of response', async () => {
  const { text, statuses, cases, logLines } = await run({ runs: 800 });
  expect(text).toBe('');
  expect(cases).toBeGreaterThan(600);
  for (const status of [200, 400, 401, 403, 404, 405, 409, 412, 415, 422]) {
    expect(statuses.get(status), `responses of ${status}`).toBeGreaterThan(0);
  }
  // Aborted and broken cases have no line.
  expect(logLines).toBeGreaterThan(0.9 * cases);
});

interface Result {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Changes the responses of all operations but the streamed one, unless `change` returns nothing. */
function afterResponse(change: (result: Result) => unknown): Plant {
  return async (operationId, handler, values) => {
    const result = (await handler(...values)) as Result;
    if (operationId === 'listInventory') return result;
    return (await change(result)) || result;
  };
}

const putEntry = (petId: string) => {
  const Item = { p: { N: petId }, q: { N: '123' }, s: { S: 'a' } };
  return client.send(new PutItemCommand({ TableName: 'inventory', Item }));
};

const write = (line: string) => void process.stderr.write(line);
const logged = (message: object) =>
  write(`${JSON.stringify({ timestamp: 'now', level: 'INFO', message })}\n`);
const toInternalError = (result: Result) => {
  const body = toErrorBody('internal_error', 'Planted.');
  return { ...result, statusCode: body.status, body: JSON.stringify(body) };
};

/** Replaces the handler of sales. */
function ofSales(
  replace: (handler: () => Promise<Result>, event: APIGatewayProxyEvent) => Promise<Result>,
): Plant {
  return (operationId, handler, values) => {
    const call = () => handler(...values) as Promise<Result>;
    return operationId === 'adjustInventory' ? replace(call, values[0] as never) : call();
  };
}

function toSold(statusCode: 200 | 409): Result {
  const refusal = toErrorBody('insufficient_stock', 'Planted.');
  const body = statusCode === 200 ? { entries: [] } : refusal;
  return { statusCode, headers: {}, body: JSON.stringify(body) };
}

/** Resolved once the oracle has seen that responses are late, so that no function still runs in the next test. */
const late = Promise.withResolvers<void>();

test.each<[string, RegExp, Plant, Partial<FuzzOptions>?]>([
  [
    'a late response',
    /^deadline: no response/m,
    afterResponse(() => late.promise),
    { deadlineMilliseconds: 300 },
  ],
  ['a 500', /^status: 500 .*Planted/m, afterResponse(toInternalError)],
  [
    'a header that the document does not have',
    /^body: .*no header x-planted/m,
    afterResponse((result) => ({ ...result, headers: { ...result.headers, 'X-Planted': '1' } })),
  ],
  [
    'a refused update that is stored',
    /^store: .*no response reported/m,
    afterResponse(async ({ statusCode }) => {
      if (statusCode === 400) await putEntry(petIds[0] ?? '');
    }),
  ],
  [
    'an acknowledged update that is not stored',
    /^store: .*unchanged after a write/m,
    async (operationId, handler, values) => {
      if (operationId !== 'updateInventory') return handler(...values);
      const body = `{"petId":${petIds.at(-1)},"quantity":5,"status":"sold"}`;
      return { headers: { ETag: '"AAAAAAA"' }, statusCode: 200, body };
    },
  ],
  [
    'an acknowledged sale that is not stored',
    /^store: .*unchanged after a write/m,
    ofSales(async (handler) => {
      const result = await handler();
      return result.statusCode === 409 ? toSold(200) : result;
    }),
  ],
  [
    'a refused sale that is stored',
    /^store: .*no response reported/m,
    ofSales(async (handler) => {
      const result = await handler();
      return result.statusCode === 200 ? toSold(409) : result;
    }),
  ],
  [
    'a sale that is applied twice',
    /^store: .*no response reported/m,
    ofSales(async (handler, event) => {
      const { multiValueHeaders } = event;
      const isKey = (name: string) => name.toLowerCase() === 'idempotency-key';
      event.multiValueHeaders = Object.fromEntries(
        Object.entries(multiValueHeaders ?? {}).map(([name, values]) => {
          return [name, isKey(name) ? [randomUUID()] : values];
        }),
      );
      await handler();
      event.multiValueHeaders = multiValueHeaders;
      return handler();
    }),
  ],
  ['a forged line', /^log: not one line/m, afterResponse(() => write('{"forged":true}\n'))],
  [
    'a request with two lines, and the id of another key',
    /^log: the key id 0123456789.*\n(.*\n)*log: 2 lines/m,
    afterResponse(({ statusCode: status, headers: { 'X-Request-Id': requestId } }) =>
      logged({ operation: 'x', requestId, status, keyId: '0123456789' }),
    ),
  ],
  ['credentials in a line', /^secret: /m, afterResponse(() => logged({ key: 'psk_planted' }))],
  ['an uncaught error', /^crash: .*Planted/m, afterResponse(() => void Promise.reject('Planted'))],
])('an oracle sees %s', async (_, problem, planted, options) => {
  let found = '';
  // Batches that do not shrink, which would take a while. The first may lack the requests that show the problem.
  for (const path of ['0', '1', '2']) {
    ({ text: found } = await run({ path, maxBatch: 96, ...options }, planted));
    if (problem.test(found)) break;
  }
  late.resolve();
  await target.waitForFunctions(10_000);
  expect(found).toMatch(problem);
});

test('a failure shrinks to one or two cases, and its path repeats them', async () => {
  const planted = afterResponse((result) => result.statusCode === 404 && toInternalError(result));
  const { failure } = await run({ runs: 400, maxBatch: 64 }, planted);
  const shrunk = failure?.cases.length ?? 0;
  expect([1, 2]).toContain(shrunk);
  const again = await run({ path: failure?.path, maxBatch: 64 }, planted);
  expect(again.text).toMatch(/^status: 500 .*Planted/m);
  expect(again.cases).toBe(shrunk);
});
