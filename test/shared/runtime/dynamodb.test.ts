import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { listen } from '../../../infra/local/engine/loopback.ts';
import { setFunctionEnvironment } from '../../../infra/local/lambdaRuntime.ts';
import { defineDynamoDB, isOutage } from '../../../shared/runtime/dynamodb.ts';
import { logError } from '../../../shared/runtime/logger.ts';
import { setDeadline } from '../../../shared/runtime/replyTime.ts';
import { scanPage } from '../../../shared/runtime/sdk/scanPage.ts';
import { rewriteScanResponse } from '../../../shared/store/scanResponse.ts';
import { onFastClock, useNoBackOff } from '../../support/faults/clock.ts';

/** The response to each attempt of a lookup, and of a page. */
let respond: (response: ServerResponse) => void;
let respondToScan: (response: ServerResponse) => void;
let attempts = 0;
const server = createServer((request, response) => {
  if (String(request.headers['x-amz-target']).endsWith('.Scan')) return respondToScan(response);
  attempts += 1;
  respond(response);
});
let client: DynamoDBClient;

useNoBackOff();
beforeAll(async () => {
  setFunctionEnvironment(`http://127.0.0.1:${await listen(server, 0, '')}`, '');
  client = defineDynamoDB();
});
beforeEach(() => {
  attempts = 0;
});
afterAll(() => {
  client.destroy();
  server.closeAllConnections();
  server.close();
});

const get = () => client.send(new GetItemCommand({ TableName: 't', Key: { p: { N: '1' } } }));
const scan = () =>
  scanPage(client, { TableName: 't' }, (bytes) => rewriteScanResponse(bytes, false));
const unavailable = { name: 'StoreUnavailable' };

it.each<[string, (response: ServerResponse) => void]>([
  ['of a length', (response) => response.writeHead(200, { 'content-length': 0 }).end()],
  ['in no chunks', (response) => response.writeHead(200).end('', 'utf8')],
  ['of another status', (response) => response.writeHead(204).end()],
])('a response without a body, %s, does not mean that nothing was found', async (_, empty) => {
  respond = empty;
  await expect(get()).rejects.toMatchObject(unavailable);
  expect(attempts).toBe(3);
});

const cause = { message: 'The reply is empty.' };
const unreadable = { name: 'UnreadableReply', message: 'The reply is unreadable.', cause };
const hungUp = { name: 'TimeoutError', message: 'socket hang up' };
it.each<[string, (response: ServerResponse) => void, object]>([
  ['an empty reply', (response) => response.end(), unreadable],
  ['a cut connection', (response) => response.destroy(), hungUp],
])('the log has the cause of an outage: %s', async (_, fail, cause) => {
  respond = fail;
  const log = vi.spyOn(console, 'error').mockReturnValue();
  onTestFinished(() => log.mockRestore());
  logError({ requestId: 'a' }, await get().catch((error) => error));
  const error = expect.objectContaining({ cause: expect.objectContaining(cause) });
  expect(log.mock.lastCall).toEqual([{ requestId: 'a', error }]);
});

it.each([
  ['the page of a proxy', '<html>Bad gateway</html>'],
  ['a truncated reply', '{"Item":{"p":{"N":"1"'],
  ['a truncated page', '{"Items":[{"p":{"N":"1"},"q":{"N":"1"},"s":{"S":"a"}},{"p'],
  ['no object', 'null'],
  ['a page without an end', '{"Items":[{"p":{"N":"1"},"q":{"N":"1"},"s":{"S":"a"}}],"Count":'],
])('%s is an unreadable reply, which is requested again', async (_, text) => {
  respond = (response) => response.end(text);
  respondToScan = (response) => {
    attempts += 1;
    response.end(text);
  };
  for (const call of text === 'null' ? [scan] : [get, scan]) {
    attempts = 0;
    const cause = { name: 'UnreadableReply' };
    await expect(call()).rejects.toMatchObject({ ...unavailable, cause });
    expect(attempts).toBe(3);
  }
});

describe('an error of our own is no outage, and no reason for a retry', () => {
  it('if a middleware cannot decode a reply', async () => {
    respond = (response) => response.end('{"Item":{"weight":{"N":"4.5"}}}');
    for (const failure of [new SyntaxError('own'), new TypeError('own'), new RangeError('own')]) {
      attempts = 0;
      const command = new GetItemCommand({ TableName: 't', Key: { p: { N: '1' } } });
      command.middlewareStack.add(
        (next) =>
          async function decode(args) {
            await next(args);
            throw failure;
          },
        { step: 'deserialize', priority: 'high' },
      );
      await expect(client.send(command)).rejects.toBe(failure);
      expect(attempts).toBe(1);
    }
  });

  it('if the items of a page cannot be taken out', async () => {
    let pages = 0;
    respondToScan = (response) => {
      pages += 1;
      response.end('{"Items":[]}');
    };
    const failure = new SyntaxError('own');
    const reading = scanPage(client, { TableName: 't' }, () => {
      throw failure;
    });
    await expect(reading).rejects.toBe(failure);
    expect(pages).toBe(1);
  });
});

it('a failed condition is reported and not retried while this machine’s clock is wrong', async () => {
  respond = (response) =>
    response
      .writeHead(400, { date: new Date(Date.now() + 241_000).toUTCString() })
      .end('{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"}');
  for (const _ of ['first', 'second']) {
    await expect(get()).rejects.toMatchObject({ name: 'ConditionalCheckFailedException' });
  }
  expect(attempts).toBe(2);
});

it('a refused signature is retried with the corrected clock', async () => {
  respond = (response) => {
    const date = new Date(Date.now() + 600_000).toUTCString();
    const refused = '{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException"}';
    if (attempts === 1) response.writeHead(400, { date }).end(refused);
    else response.writeHead(200, { date }).end('{}');
  };
  await get();
  expect(attempts).toBe(2);
});

it.each(['loggerMiddleware', 'getUserAgentMiddleware'])('no call runs the SDK’s %s', (name) => {
  const stacks = [new DynamoDBClient(), client].map(({ middlewareStack }) => middlewareStack);
  expect(stacks.map((stack) => stack.identify().join().includes(name))).toEqual([true, false]);
});

it('no attempt starts after the request’s deadline', async () => {
  respond = (response) => response.end('{}');
  const getOverdue = async () => {
    await undefined;
    setDeadline(Date.now());
    return get();
  };
  await expect(getOverdue()).rejects.toMatchObject({
    ...unavailable,
    cause: { message: 'The request is past its deadline.' },
  });
  expect(attempts).toBe(0);
  await get();
  expect(attempts).toBe(1);
});

it('a connection with a slow response is closed', async () => {
  const closed: Promise<unknown>[] = [];
  respond = (response) => {
    closed.push(once(response, 'close'));
    response.writeHead(200, { 'content-length': 100 }).write('{');
  };
  await onFastClock(async () => {
    const started = performance.now();
    const error = await get().catch((reason) => reason);
    expect(error).toMatchObject(unavailable);
    expect(error.cause.message).toMatch(/^The reply timed out/);
    const seconds = (performance.now() - started) / 1_000;
    expect(seconds).toBeGreaterThan(8.9);
    expect(seconds).toBeLessThan(12);
  }, 50);
  expect(closed).toHaveLength(3);
  await Promise.all(closed);
});

it('a large page may take one more second for each MB', async () => {
  const Items = Array.from({ length: 20_000 }, () => toRecord(1));
  const page = JSON.stringify({ Count: Items.length, Items });
  let pages = 0;
  respondToScan = (response) => {
    pages += 1;
    response.writeHead(200, { 'content-length': page.length }).write(page.slice(0, 500_000));
    setTimeout(() => response.end(page.slice(500_000)), 3_500);
  };
  const { items } = await onFastClock(scan, 50);
  expect(items.toString().match(/petId/g)).toHaveLength(Items.length);
  expect(pages).toBe(1);
});

const failure = (fields: object) => Object.assign(new Error('failed'), fields);
const refusal = (name: string, httpStatusCode = 400) => ({ name, $metadata: { httpStatusCode } });

it.each([
  [{ code: 'ECONNREFUSED' }, true],
  [{ code: 'EAI_AGAIN' }, true],
  [{ cause: failure({ code: 'EPIPE' }) }, true],
  [refusal('InternalServerError', 500), true],
  [refusal('Unknown', 507), true],
  [refusal('AccessDeniedException'), false],
  [refusal('ConditionalCheckFailedException'), false],
  [refusal('InvalidSignatureException'), false],
  [{ name: 'TypeError' }, false],
  // An aborted call.
  [{ name: 'AbortError', code: 'ECONNRESET' }, false],
])('%j is an outage: %s', (fields, expected) => {
  expect(isOutage(failure(fields))).toBe(expected);
});

const toRecord = (petId: number) => ({ p: { N: `${petId}` }, q: { N: '1' }, s: { S: 'a' } });
const toItem = (petId: number) => `{"petId":${petId},"quantity":1,"status":"available"}`;

const toBody = (petIds: readonly number[], rest: object = {}) =>
  JSON.stringify({ Items: petIds.map(toRecord), ...rest });

const readPage = async () => {
  const { items, next } = await scan();
  return { items: Buffer.isBuffer(items) ? items.toString() : items, next };
};
const toItems = (petIds: readonly number[]) => ({ items: petIds.map(toItem).join(',') });

const many = Array.from({ length: 5_000 }, (_, petId) => petId);

describe('a page', () => {
  it.each([
    ['in one piece', [1, 2]],
    ['after a smaller one', many],
    ['after a larger one', [3]],
    ['without entries', []],
    ['as large as the one before the last', many],
  ])('%s is read whole', async (_, petIds) => {
    respondToScan = (response) => {
      const body = toBody(petIds);
      response.setHeader('Content-Length', Buffer.byteLength(body));
      response.end(body);
    };
    expect(await readPage()).toEqual(toItems(petIds));
  });

  it('without a length is read whole, in any chunks, also beside another one', async () => {
    const pages = [many, many.map((petId) => petId + 5_000)];
    const open: ServerResponse[] = [];
    respondToScan = async (response) => {
      open.push(response);
      if (open.length < pages.length) return;
      const bodies = pages.map((petIds) => toBody(petIds));
      for (let from = 0; from < 300_000; from += 30_000) {
        for (const [index, one] of open.entries()) {
          one.write(bodies[index]?.slice(from, from + 30_000) ?? '');
        }
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      for (const one of open) one.end();
    };
    const read = await Promise.all(pages.map(readPage));
    expect(read.map(({ items }) => items).sort()).toEqual(pages.map((one) => toItems(one).items));
  });

  it('says where the next one starts', async () => {
    const LastEvaluatedKey = { p: { N: '7' } };
    respondToScan = (response) => response.end(toBody([7, 9], { LastEvaluatedKey }));
    expect(await readPage()).toEqual({ ...toItems([7, 9]), next: LastEvaluatedKey });
  });

  it.each([
    ['with an attribute that nobody declared', { ...toRecord(1), x: { L: [{ N: '4.5' }] } }],
    ['with an attribute missing', { p: { N: '1' } }],
    ['with a version of release 1.0.0', { ...toRecord(1), v: { N: '3' } }],
  ])('%s is as DynamoDB’s JSON has it, and says where the next one starts', async (_, record) => {
    const LastEvaluatedKey = { p: { N: '7' } };
    respondToScan = (response) =>
      response.end(JSON.stringify({ Items: [record], LastEvaluatedKey }));
    expect(await readPage()).toEqual({ items: [record], next: LastEvaluatedKey });
  });

  it('with white space or without items is as DynamoDB’s JSON has it', async () => {
    respondToScan = (response) => response.end('{ }');
    expect(await readPage()).toEqual({ items: [] });
    respondToScan = (response) => response.end(JSON.stringify({ Items: [toRecord(1)] }, null, 1));
    expect(await readPage()).toEqual({ items: [toRecord(1)] });
  });

  it('with an error throws it', async () => {
    respondToScan = (response) => {
      response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' });
      response.end('{"__type":"x#ResourceNotFoundException","message":"gone"}');
    };
    await expect(readPage()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  });
});
