import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createZstdDecompress, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { defineAwslambda } from '../../../infra/local/lambdaRuntime.ts';
import { listInventory } from '../../../shared/contract/operations/listInventory.ts';
import { compress } from '../../../shared/http/contentCoding.ts';
import { defineHandler, defineStreamedHandler } from '../../../shared/http/defineHandler.ts';
import { streamedResponse } from '../../../shared/http/middleware/streamedResponse.ts';
import type { HttpResponse, Pages } from '../../../shared/http/operationRequest.ts';
import { countUnits } from '../../../shared/runtime/requestUnits.ts';
import { apiKey, call, settings, toProxyRequest, useLogs, withKey } from './callHandler.ts';

const logs = useLogs();
let hasReturned: boolean;
beforeEach(() => {
  hasReturned = false;
});

async function* toPages(...texts: string[]): Pages {
  try {
    for (const [index, text] of texts.entries()) {
      countUnits('read', 1);
      yield { items: Buffer.from(text), isLast: index === texts.length - 1 };
    }
  } finally {
    hasReturned = true;
  }
}

async function list(pages: Pages, headers: Record<string, string[]> = {}): Promise<HttpResponse> {
  const handler = defineHandler(listInventory, settings, async () => ({ pages }), {
    response: streamedResponse(listInventory),
  });
  return call(handler, { headers });
}

async function textOf({ body }: HttpResponse): Promise<string> {
  return typeof body === 'string' ? body : (await buffer(body as Readable)).toString();
}

describe('a streamed array', () => {
  it.each([
    [['1', '2', '3'], '[1,2,3]'],
    [['1', ''], '[1]'],
    [['', '1', '2', ''], '[1,2]'],
    [['1', '', '2'], '[1,2]'],
    [[''], '[]'],
    [[], '[]'],
  ])('of %j is %s', async (texts, expected) => {
    expect(await textOf(await list(toPages(...texts)))).toBe(expected);
  });

  it('has an ETag if it is one page, and none if more may come', async () => {
    expect((await list(toPages('1'))).headers.ETag).toMatch(/^W\/"[\w-]{22}"$/);
    expect((await list(toPages())).headers.ETag).toMatch(/^W\/"[\w-]{22}"$/);
    expect((await list(toPages('1', '2'))).headers).not.toHaveProperty('ETag');
  });

  it('is a 304 for a client that has it, and sent in full to one that has only its first page', async () => {
    const { ETag = '' } = (await list(toPages('1'))).headers;
    expect((await list(toPages('2'))).headers.ETag).not.toBe(ETag);
    const known = await list(toPages('1'), { 'If-None-Match': ['"other"', ETag] });
    expect(known).toMatchObject({ statusCode: 304, body: '' });
    const longer = await list(toPages('1', '2'), { 'If-None-Match': [ETag, '*'] });
    expect(longer.statusCode).toBe(200);
    expect(await textOf(longer)).toBe('[1,2]');
  });

  it.each([
    [1_023, 'gzip', undefined],
    [1_024, 'gzip', 'gzip'],
    [1_024, 'zstd', 'zstd'],
  ])('of %i bytes is compressed by %s: %s', async (length, accepted, encoding) => {
    const response = await list(toPages('1'.repeat(length)), { 'Accept-Encoding': [accepted] });
    expect(response.headers['Content-Encoding']).toBe(encoding);
    expect(response.headers.Vary).toBe('Accept-Encoding');
    const bytes = await buffer(response.body as Readable);
    const decode = encoding === 'zstd' ? zstdDecompressSync : gunzipSync;
    expect(String(encoding ? decode(bytes) : bytes)).toHaveLength(length + 2);
  });

  it('stops reading when the client leaves', async () => {
    const { body } = await list(toPages('1', '2', '3'));
    const stream = body as Readable;
    for await (const _ of stream) break;
    await expect.poll(() => hasReturned).toBe(true);
  });
});

it.each<[string, Pages, true | undefined, number]>([
  ['was cut off', failingPages(), true, 0],
  ['was complete, with the units of all its pages', toPages('1', '2', '3'), undefined, 3],
])('the log shows that a list %s', async (_, pages, broken, units) => {
  defineAwslambda();
  const handler = defineStreamedHandler(listInventory, settings, async () => ({ pages }));
  const sent = new PassThrough({ highWaterMark: 1 }).on('error', () => {});
  // Outside the request's context, as a connection that drains.
  setImmediate(() => sent.resume());
  const invoke = handler as unknown as (...args: unknown[]) => Promise<void>;
  await invoke(toProxyRequest(withKey(apiKey)), sent, {}).catch(() => {});
  expect(logs.info).toHaveBeenCalledOnce();
  const { broken: logged, firstByteMilliseconds, readUnits } = logs.info.mock.calls[0]?.[0] ?? {};
  expect([logged, firstByteMilliseconds < 60_000, readUnits]).toEqual([broken, true, units]);
});

/** More than a stream buffers, also compressed. */
const noise = [1, 2, 3].map(() => randomBytes(100_000).toString('hex'));

const decoders = { identity: String, gzip: gunzipSync, zstd: zstdDecompressSync };

// `test/conformance/runtime.test.ts` has the same under Lambda's runtime client.
it.each([
  ['identity', 120_000, 10_000],
  ['gzip', 120_000, 10_000],
  ['zstd', 120_000, 10_000],
  ['identity', 4_000, 3_000],
  ['identity', 500, 0],
] as const)(
  'in %s, a list with %i ms left ends early after %i ms in which the client takes nothing',
  async (coding, left, waits) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    defineAwslambda();
    const pages = toPages(...noise);
    const handler = defineStreamedHandler(listInventory, settings, async () => ({ pages }));
    const to = new PassThrough();
    const end = Date.now() + left;
    const context = { getRemainingTimeInMillis: () => end - Date.now() };
    const event = toProxyRequest({ ...withKey(apiKey), 'Accept-Encoding': [coding] });
    const invoke = handler as unknown as (...args: unknown[]) => Promise<void>;
    const invoked = invoke(event, to, context);
    while (!to.writableNeedDrain) await new Promise(setImmediate);
    const started = Date.now();
    while (!to.writableEnded) {
      await new Promise(setImmediate);
      vi.advanceTimersToNextTimer();
    }
    await invoked;
    expect(Date.now() - started).toBe(waits);
    expect(logs.info.mock.calls).toMatchObject([[{ status: 200, broken: true }]]);
    expect(logs.error).not.toHaveBeenCalled();
    expect(hasReturned).toBe(true);
    const sent = await buffer(to);
    expect(() => JSON.parse(String(decoders[coding](sent)))).toThrow();
  },
);

async function* failingPages(): Pages {
  yield { items: Buffer.from('1'), isLast: false };
  throw new Error('the second page failed');
}

it.each([
  ['gzip', createGunzip],
  ['zstd', createZstdDecompress],
] as const)('%s sends its input on before the stream ends', async (coding, toDecoder) => {
  const source = new Readable({ read() {} });
  const decoder = toDecoder();
  // Both end with an error when the source does.
  decoder.on('error', () => {});
  compress(source, coding)
    .on('error', () => {})
    .pipe(decoder);
  source.push('first');
  let text = '';
  decoder.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await expect.poll(() => text).toBe('first');
  source.destroy();
});
