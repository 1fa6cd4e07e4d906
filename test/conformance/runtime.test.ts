import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedEngine } from '../../infra/local/engine/engine.ts';
import { setFunctionEnvironment } from '../../infra/local/lambdaRuntime.ts';
import { operationIds } from '../../shared/contract/operations.ts';
import { mintApiKey } from '../../shared/keys/apiKey.ts';
import type { CannedEndpoints, CannedTable } from '../bench/canned/cannedDynamoDB.ts';
import { startChild } from '../bench/childProcess.ts';
import { toEvent } from '../bench/functionHost.ts';
import { writeBundle } from '../support/bundles.ts';
import type { Fault } from '../support/faults/faults.ts';
import {
  type LambdaRuntime,
  openStream,
  startLambdaRuntime,
  toStreamError,
} from '../support/lambda/lambdaRuntime.ts';
import { defineRuntimes } from '../support/lambda/runtimes.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';
import { expectError, expectSuccess } from './expectations.ts';
import { type FaultyTarget, openFaultyStage } from './localTarget.ts';
import { sendValid } from './operations/suites.ts';
import { fixtures } from './target.ts';

// `bundles.test.ts` runs the contract under Lambda's runtime client. These are the ways out that need a fault, a slow
// client or a large list.

const { toPath } = openTemporaryFolder();

interface LogLine {
  readonly level: string;
  readonly message: Readonly<Record<string, unknown>>;
}

/**
 * The lines of the invocations after the first so many. Each must be JSON. They may come after the response.
 * @param count how many there must be
 */
async function readLog(runtime: LambdaRuntime, after: number, count: number): Promise<LogLine[]> {
  await expect.poll(() => runtime.linesAfter(after), { timeout: 20_000 }).toHaveLength(count);
  expect(runtime.strayLines).toEqual([]);
  return runtime.linesAfter(after).map((line) => JSON.parse(line));
}

describe('the deployed functions under the runtime client of Lambda', () => {
  const { load, close, started } = defineRuntimes(toPath);
  let target: FaultyTarget;
  let list: LambdaRuntime;
  beforeAll(async () => {
    target = await openFaultyStage(fixtures, startEmbeddedEngine, undefined, () => load);
    list = started.get('listInventory') ?? expect.unreachable();
    for (const id of operationIds) expectSuccess(await sendValid(target, id), id);
  });
  afterEach(() => target.store.heal());
  afterAll(async () => {
    await target?.close();
    await close();
  });

  const listIn = (coding: string | undefined) =>
    sendValid(target, 'listInventory', coding ? { headers: { 'Accept-Encoding': coding } } : {});

  async function expectWholeList(coding?: string): Promise<void> {
    const { bytes, headers } = await listIn(coding);
    expect(headers.get('Content-Encoding')).toBe(coding ?? null);
    const decode = coding === 'gzip' ? gunzipSync : coding ? zstdDecompressSync : Buffer.from;
    expect(JSON.parse(String(decode(bytes)))).toHaveLength(fixtures.inventory.length);
  }

  test.each([
    ['accessDenied', 'internal_error'],
    ['unavailable', 'service_unavailable'],
  ] as const)('%s gives each operation %s, and a request line', async (fault, code) => {
    target.store.fail({ fault });
    for (const id of operationIds) {
      const runtime = started.get(id) ?? expect.unreachable();
      const before = runtime.invocations();
      const response = await sendValid(target, id);
      expectError(response, code, id);
      const requestId = response.headers.get('X-Request-Id');
      const { status } = response;
      expect(await readLog(runtime, before, 2)).toMatchObject([
        { level: 'ERROR', message: { requestId, error: { name: expect.any(String) } } },
        { level: 'INFO', message: { requestId, operation: id, status } },
      ]);
    }
    await target.store.heal();
    for (const id of operationIds) expectSuccess(await sendValid(target, id), id);
  });

  const codings = [undefined, 'gzip', 'zstd'];
  const failures = [
    ['accessDenied', 'AccessDeniedException'],
    ['resourceNotFound', 'ResourceNotFoundException'],
    ['unavailable', 'StoreUnavailable'],
    ['htmlPage', 'StoreUnavailable'],
  ] as const satisfies [Fault, string][];

  test.each(codings.flatMap((coding) => failures.map((failure) => [coding, ...failure] as const)))(
    'a list in the coding %s whose later page is %s breaks off, and its cause is logged',
    async (coding, fault, name) => {
      target.store.pageSize = 30;
      target.store.fail({ action: 'Scan', fault, after: 1 });
      const before = list.invocations();
      await expect(listIn(coding)).rejects.toMatchObject({ code: 'ECONNRESET' });
      await target.store.heal();
      await expectWholeList(coding);
      const lines = await readLog(list, before, 4);
      const requestId = lines[0]?.message.requestId;
      expect(requestId).toEqual(expect.any(String));
      expect(lines).toMatchObject([
        { level: 'ERROR', message: { requestId, error: { name } } },
        { level: 'INFO', message: { requestId, status: 200, broken: true } },
        // The runtime's own.
        { level: 'ERROR', message: { errorMessage: expect.any(String) } },
        { level: 'INFO', message: { status: 200 } },
      ]);
      expect(lines[3]?.message).not.toHaveProperty('broken');
    },
  );

  test.each(codings)(
    'a list in the coding %s whose first page fails is an error response',
    async (coding) => {
      target.store.fail({ action: 'Scan', fault: 'accessDenied' });
      expectError(await listIn(coding), 'internal_error', 'listInventory');
      await target.store.heal();
      await expectWholeList(coding);
    },
  );

  test.each(codings)(
    'a client that leaves a list in the coding %s disturbs nobody',
    async (coding) => {
      target.store.pageSize = 5;
      const before = list.invocations();
      const { hostname, port } = new URL(target.baseUrl);
      const socket = connect(Number(port), hostname);
      const accepted = coding ? `Accept-Encoding: ${coding}\r\n` : '';
      socket.write(
        `GET /v1/inventory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${target.apiKey}\r\n${accepted}\r\n`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
      await readLog(list, before, 1);
      await target.store.heal();
      await expectWholeList(coding);
      expect(await readLog(list, before, 2)).toMatchObject([
        { message: { status: 200 } },
        { message: { status: 200 } },
      ]);
    },
  );

  test('a list that the client has is a 304 without a body', async () => {
    const { headers } = await listIn('gzip');
    const sent = { 'If-None-Match': String(headers.get('ETag')), 'Accept-Encoding': 'gzip' };
    const response = await sendValid(target, 'listInventory', { headers: sent });
    expect([response.status, response.text]).toEqual([304, '']);
  });

  test.each([
    {},
    null,
    { warmer: true },
    { invokeCompletionStatus: 'Success', requestId: 'request-1' },
  ])('the event %j gets nothing from any function but a warning', async (event) => {
    for (const runtime of started.values()) {
      const before = runtime.invocations();
      const posted = await runtime.invoke({ event, deadline: Date.now() + 10_000 });
      if (posted.kind === 'stream') {
        const { prelude, body } = await openStream(posted.stream);
        expect([prelude, await body.next()]).toEqual([{}, { done: true, value: undefined }]);
        expect(toStreamError(posted.stream)).toBeUndefined();
      } else expect(posted).toEqual({ kind: 'response', value: null });
      expect(await readLog(runtime, before, 1)).toMatchObject([{ level: 'WARN' }]);
    }
  });
});

// The first responds with a stream.
test.each(['listInventory', 'updateInventory'] as const)(
  '%s reports a missing setting, and ends before it takes requests',
  async (id) => {
    setFunctionEnvironment('http://127.0.0.1:9', 'https://docs.petstore.example');
    const entry = await writeBundle(id, toPath(`init-${id}`));
    const runtime = await startLambdaRuntime(entry, { API_KEYS_TABLE: '' });
    onTestFinished(() => runtime.close());
    expect(await runtime.exited).toBe(1);
    const message = 'The environment variable API_KEYS_TABLE is not set.';
    expect(runtime.initErrors).toMatchObject([{ errorMessage: message }]);
    const lines = runtime.lines.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ level: 'ERROR', message: { errorMessage: message } }]);
  },
);

/** Several times what the buffers of a connection hold. */
const ENTRIES = 200_000;

describe('a list of 200,000 entries', () => {
  const { keyId, secretHash, apiKey } = mintApiKey();
  const key = { keyId, secretHash, name: 'test', permission: 'write', createdAt: '' };
  let database: Awaited<ReturnType<typeof startChild<CannedEndpoints>>>;
  let runtime: LambdaRuntime;
  beforeAll(async () => {
    const script = new URL('../bench/canned/cannedDynamoDB.ts', import.meta.url).pathname;
    database = await startChild<CannedEndpoints>(script);
    await database.ask({ entries: ENTRIES, key } satisfies CannedTable);
    setFunctionEnvironment(database.first.endpoint, 'https://docs.petstore.example');
    const entry = await writeBundle('listInventory', toPath('slow'));
    // Timers run five times as fast as the clock: more, and a busy machine would seem to be a slow client.
    const hurried = `globalThis.setTimeout = ((set) => (act, time) => set(act, time / 5))(setTimeout)`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hurried)}`;
    runtime = await startLambdaRuntime(entry, { NODE_OPTIONS });
    await runtime.ready;
  });
  afterAll(async () => {
    await runtime?.close();
    await database?.end();
  });

  /** The start of the list. Reading no further holds the function back. */
  async function openList(): Promise<IncomingMessage> {
    const event = toEvent('listInventory', apiKey);
    const posted = await runtime.invoke({ event, deadline: Date.now() + 120_000 });
    return posted.kind === 'stream' ? posted.stream : expect.unreachable(JSON.stringify(posted));
  }

  async function readRest(stream: IncomingMessage, wait = async () => {}) {
    const { prelude, body } = await openStream(stream);
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      chunks.push(chunk);
      await wait();
    }
    return { ...prelude, bytes: Buffer.concat(chunks), error: toStreamError(stream) };
  }

  test('ends early, without an error, for a client that takes nothing', async () => {
    const before = runtime.invocations();
    const stream = await openList();
    expect(await readLog(runtime, before, 1)).toMatchObject([
      { level: 'INFO', message: { status: 200, broken: true } },
    ]);
    const { statusCode, bytes, error } = await readRest(stream);
    expect([statusCode, error]).toEqual([200, undefined]);
    expect(String(bytes)).toMatch(/^\[\{.*[^\]]$/);
  });

  // On the function's clock, a pause is 80 ms, and the list takes more than the 10 s of a slice.
  test('arrives whole afterwards for a client that is slow but takes bytes', async () => {
    const { statusCode, bytes, error } = await readRest(await openList(), () => pause(16));
    expect([statusCode, error]).toEqual([200, undefined]);
    expect(JSON.parse(String(bytes))).toHaveLength(ENTRIES);
  });
});
