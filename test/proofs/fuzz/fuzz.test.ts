import { randomUUID } from 'node:crypto';
import type { APIGatewayProxyEvent, APIGatewayProxyResult as Result } from 'aws-lambda';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LambdaFunction } from '../../../infra/local/gateway/gateway.ts';
import { type ErrorCode, toErrorBody } from '../../../shared/contract/errorBody.ts';
import { defineFreshFunctions } from '../../conformance/localTarget.ts';
import { type FuzzOptions, type FuzzTarget, openFuzzTarget, runFuzz } from './runFuzz.ts';

/** Replaces the handler of an operation, and may call it. */
type Plant = (
  call: (event: APIGatewayProxyEvent) => Promise<Result>,
  event: APIGatewayProxyEvent,
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
      return plant && id !== 'listInventory' ? plant(call, event) : call(event);
    };
    return { handler: planted as LambdaFunction['handler'] };
  });
});
afterAll(() => target?.close());

async function run(options: Partial<FuzzOptions>, planted?: Plant) {
  plant = planted;
  const report = await runFuzz(target, { seed: 11, runs: 1_000, ...options });
  plant = undefined;
  return report;
}

test('some requests break no property, and get every kind of response', async () => {
  const { failure, statuses } = await run({ runs: 320 });
  expect(failure).toBe('');
  const expected = [200, 400, 401, 403, 404, 409, 412, 415, 422];
  expect([...statuses.keys()]).toEqual(expect.arrayContaining(expected));
});

function toError(code: ErrorCode, status?: number): Result {
  const body = toErrorBody(code, 'Planted.');
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': randomUUID() };
  return { statusCode: status ?? body.status, headers, body: JSON.stringify(body) };
}

/** Changes the responses with the status. */
const after =
  (status: number, change: (result: Result) => Result): Plant =>
  async (call, event) => {
    const result = await call(event);
    return result.statusCode === status ? change(result) : result;
  };

/** Gives a header of each event another value, if it has it. */
const withHeader =
  (name: string, toValue: (value: string) => string): Plant =>
  (call, { multiValueHeaders: headers, ...event }) => {
    const changed = headers[name] && { [name]: [toValue(String(headers[name]))] };
    return call({ ...event, multiValueHeaders: { ...headers, ...changed } });
  };
const withNewKey = withHeader('idempotency-key', (key) =>
  key.replace(/^(key|missing)-.*/, () => randomUUID()),
);

const asWriter = withHeader('authorization', () => `Bearer ${target.keys.write0}`);

/** By the property that it breaks. */
const planted: Readonly<Record<string, Plant>> = {
  'no request makes the service fail': after(404, () => toError('internal_error')),
  'a response is as the document says': after(200, ({ headers, ...result }) => {
    return { ...result, headers: { ...headers, 'X-Planted': '1' } };
  }),
  'an error has a code of its operation': after(404, () => toError('forbidden', 404)),
  // An id is read through a double.
  'only what the contract takes gets past the checks': (call, event) => {
    const id = Number(event.pathParameters?.petId);
    return call(
      Number.isSafeInteger(id) ? { ...event, pathParameters: { petId: `${id}` } } : event,
    );
  },
  'only with a key that may': async (call, event) => {
    const result = await call(event);
    const written = result.statusCode === 403 && (await asWriter(call, event));
    return written && written.statusCode === 200 ? written : result;
  },
  // The media type is checked before the key.
  'the first check that fails gives the response': async (call, event) => {
    const isText = event.headers['content-type'] === 'text/plain' && event.httpMethod !== 'GET';
    return isText ? toError('unsupported_media_type') : call(event);
  },
  'an update with an old tag is refused': withHeader('if-match', () => '*'),
  'an Idempotency-Key has one request and one outcome': withNewKey,
  'the stock is the sum of what was accepted': async (call, event) => {
    if (event.httpMethod === 'POST') await withNewKey(call, event);
    return call(event);
  },
  'a log line has no secret': (call, event) => {
    console.info({ body: event.body });
    return call(event);
  },
  'a log line is one JSON object': after(200, (result) => {
    process.stderr.write('{"message":{}}\n{"message":{}}\n');
    return result;
  }),
};

test.each(Object.entries(planted))('%s, or the run finds it', async (property, planted) => {
  const { failure } = await run({ shrinks: false }, planted);
  expect(failure).toMatch(new RegExp(`^${property}.*: `, 'm'));
});

test('a failure shrinks to one or two requests, and its path repeats them', async () => {
  const planted = after(200, () => toError('internal_error'));
  const { failure, path } = await run({}, planted);
  const again = await run({ path }, planted);
  const listSent = (text: string) => text.match(/^[A-Z]+ \/\S+/gm);
  expect([1, 2]).toContain(listSent(failure)?.length);
  expect(listSent(again.failure)).toEqual(listSent(failure));
});
