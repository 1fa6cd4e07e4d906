import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult as Result } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LambdaFunction } from '../../../infra/local/lambdaFunction.ts';
import { type ErrorCode, toErrorBody } from '../../../shared/contract/errorBody.ts';
import type { OperationId } from '../../../shared/contract/operations.ts';
import { defineFreshFunctions } from '../../conformance/localTarget.ts';
import { type FuzzOptions, type FuzzTarget, openFuzzTarget, runFuzz } from './runFuzz.ts';

/** Replaces the handler of an operation, and may call it. */
type Plant = (
  call: (event: APIGatewayProxyEvent) => Promise<Result>,
  event: APIGatewayProxyEvent,
  operationId: OperationId,
) => Promise<Result>;

let target: FuzzTarget;
let plant: Plant | undefined;

beforeAll(async () => {
  const loadFresh = defineFreshFunctions();
  target = await openFuzzTarget(async (id) => {
    const { handler } = await loadFresh(id);
    const planted = async (event: never, ...rest: never[]) => {
      const call = (changed: unknown) => handler(changed as never, ...rest) as Promise<Result>;
      // A streamed response has no result.
      return plant && id !== 'listInventory' ? plant(call, event, id) : call(event);
    };
    return { handler: planted as LambdaFunction['handler'] };
  });
});
afterAll(() => target?.close());

async function run(options: Partial<FuzzOptions>, planted?: Plant) {
  plant = planted;
  try {
    const report = await runFuzz(target, { seed: 11, runs: 1_000, ...options });
    return { ...report, text: report.failure?.problems.join('\n') ?? '' };
  } finally {
    plant = undefined;
  }
}

test('three hundred requests break no property, and get every kind of response', async () => {
  const { text, statuses } = await run({ runs: 300 });
  expect(text).toBe('');
  const expected = [200, 400, 401, 403, 404, 405, 409, 412, 415, 422];
  expect([...statuses.keys()]).toEqual(expect.arrayContaining(expected));
});

function toError(code: ErrorCode): Result {
  const body = toErrorBody(code, 'Planted.');
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': randomUUID() };
  return { statusCode: body.status, headers, body: JSON.stringify(body) };
}

/** Changes the responses with the status. */
const after =
  (status: number, change: (result: Result, event: APIGatewayProxyEvent) => Result): Plant =>
  async (call, event) => {
    const result = await call(event);
    return result.statusCode === status ? change(result, event) : result;
  };

const toChanged = ({ body, ...result }: Result, pattern: RegExp, text: string) => ({
  ...result,
  body: body.replace(pattern, text),
});

/** Gives a header of the event another value, or none, if it has it. */
function withHeader(event: APIGatewayProxyEvent, name: string, values?: string[]) {
  const { [name]: sent, ...others } = event.multiValueHeaders;
  return { ...event, multiValueHeaders: { ...others, ...(sent && values && { [name]: values }) } };
}
const withNewKey = (event: APIGatewayProxyEvent) =>
  withHeader(event, 'idempotency-key', [randomUUID()]);

const planted: Readonly<Record<string, readonly Plant[]>> = {
  'no request makes the service fail': [after(404, () => toError('internal_error'))],
  'a response is as the document says': [
    after(200, (result) => ({ ...result, headers: { ...result.headers, 'X-Planted': '1' } })),
  ],
  'an error has a code of its operation, and the status of that code': [
    after(404, () => ({ ...toError('forbidden'), statusCode: 404 })),
  ],
  'only what the contract takes gets past the checks': [
    // An id is read through a double.
    (call, event) => {
      const id = Number(event.pathParameters?.petId);
      const pathParameters = { petId: String(id) };
      return call(Number.isSafeInteger(id) ? { ...event, pathParameters } : event);
    },
    (call, event, id) =>
      call(id === 'updateInventory' ? withHeader(event, 'idempotency-key') : event),
  ],
  'the first check that fails gives the response': [
    // The media type is checked before the key.
    async (call, event) => {
      const isText = event.headers['content-type'] === 'text/plain' && event.httpMethod !== 'GET';
      return isText ? toError('unsupported_media_type') : call(event);
    },
    // A valid request is refused.
    after(200, () => toError('invalid_request')),
  ],
  'a read key writes nothing': [
    (call, event) => {
      const isRead = event.headers.authorization === `Bearer ${target.keys.read0}`;
      const key = `Bearer ${target.keys.write0}`;
      return call(isRead ? withHeader(event, 'authorization', [key]) : event);
    },
  ],
  'an update with an old tag is refused': [
    (call, event) => call(withHeader(event, 'if-match', ['*'])),
  ],
  'an Idempotency-Key has one request and one outcome': [
    (call, event, id) => call(id === 'adjustInventory' ? withNewKey(event) : event),
    // Another request under a key gets an outcome.
    after(422, () => toError('not_found')),
  ],
  'a refusal names pets of its request, each with its reason': [
    after(409, (result) => toChanged(result, /"petId":-?\d+/, '"petId":77')),
    after(409, (result) => toChanged(result, /"refused":\[.*\]/, '"refused":[]')),
    after(409, (result) => toChanged(result, /"quantity":\d+/, '"quantity":2147483647')),
  ],
  'the stock is the sum of what was accepted': [
    async (call, event, id) => {
      if (id === 'adjustInventory') await call(withNewKey(event));
      return call(event);
    },
  ],
  'a log line has no secret': [
    after(200, (result, { body }) => {
      console.info({ body });
      return result;
    }),
  ],
  'a log line is one JSON object': [
    after(200, (result) => {
      process.stderr.write('{"message":{}}\n{"message":{}}\n');
      return result;
    }),
  ],
};
const errors = Object.entries(planted).flatMap(([property, plants]) =>
  plants.map((plant, index) => [property, index + 1, plant] as const),
);

test.each(errors)('%s, or the run finds it: error %i', async (property, _, plant) => {
  const { text } = await run({ shrinks: false }, plant);
  expect(text).toContain(`${property}: `);
});

test('a failure shrinks to one or two requests, and its path repeats them', async () => {
  const planted = after(404, () => toError('internal_error'));
  const { failure } = await run({}, planted);
  const again = await run({ path: failure?.path }, planted);
  expect([1, 2]).toContain(failure?.exchanges.length);
  const listPaths = (one: typeof failure) => one?.exchanges.map(({ request }) => request.path);
  expect(listPaths(again.failure)).toEqual(listPaths(failure));
});
