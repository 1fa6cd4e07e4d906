import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import type { Item } from '../../../infra/bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
} from '../../../infra/bulk/tableWriters.ts';
import { defineEmulatorClient } from '../../../infra/cli/tableOption.ts';

interface Call {
  readonly action: string;
  // biome-ignore lint/suspicious/noExplicitAny: the body of whichever action it is.
  readonly input: any;
}

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A writer on a DynamoDB that answers as told; emulators never leave a part of a batch undone. */
async function openTable(answer: (call: Call) => unknown) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const call = { action, input: JSON.parse(await text(request)) };
    calls.push(call);
    response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer(call)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = defineEmulatorClient(endpoint, { maxAttempts: 1 });
  closing.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { signal } = new AbortController();
  const table = { client, tableName: 't', key: ['p'] as const, giveUpAfter: 5_000, signal };
  return { table, calls };
}

const items: Item[] = Array.from({ length: 60 }, (_, p) => ({ p: { N: String(p) } }));

describe('the writer that replaces', () => {
  it('sends again what a batch left unprocessed, and nothing else', async () => {
    const { table, calls } = await openTable(({ input }) => {
      const puts = input.RequestItems.t;
      return { UnprocessedItems: puts.length > 5 ? { t: puts.slice(-5) } : {} };
    });
    expect(await defineReplacingWriter(table)(items)).toEqual({ written: 60, kept: 0 });
    const sizes = calls.map(({ input }) => input.RequestItems.t.length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 5, 5, 10, 25, 25]);
  });
});

describe('the writer that adds', () => {
  it.each(['ThrottlingError', 'TransactionConflict'])(
    'sends again the statements that met a %s, and nothing else',
    async (Code) => {
      let refused = 0;
      const { table, calls } = await openTable(({ input }) => ({
        Responses: input.Statements.map((_: unknown, index: number) => {
          if (input.Statements.length < 10 || index > 0) return {};
          refused += 1;
          return { Error: { Code, Message: 'slow down' } };
        }),
      }));
      expect(await defineAddingWriter(table)(items)).toEqual({ written: 60, kept: 0 });
      expect(refused).toBe(3);
      const sizes = calls.map(({ input }) => input.Statements.length);
      expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 1, 1, 10, 25, 25]);
    },
  );

  it('fails at a statement that repeating would not help, and says why', async () => {
    const { table } = await openTable(({ input }) => ({
      Responses: input.Statements.map(() => ({
        Error: { Code: 'AccessDenied', Message: 'not you' },
      })),
    }));
    await expect(defineAddingWriter(table)(items)).rejects.toThrow('AccessDenied: not you');
  });

  it('looks before it writes once much is there already, and stops looking once it is not', async () => {
    const isThere = (p: string) => Number(p) < 60;
    const { table, calls } = await openTable(({ action, input }) =>
      action === 'BatchGetItem'
        ? {
            Responses: {
              t: input.RequestItems.t.Keys.filter((key: Item) => isThere(key.p?.N ?? '')),
            },
          }
        : {
            Responses: input.Statements.map(
              ({ Parameters: [{ N }] }: { Parameters: [{ N: string }] }) =>
                isThere(N) ? { Error: { Code: 'DuplicateItem' } } : {},
            ),
          },
    );
    const write = defineAddingWriter(table);
    expect(await write(items)).toEqual({ written: 0, kept: 60 });
    calls.length = 0;
    expect(await write(items)).toEqual({ written: 0, kept: 60 });
    expect(calls.map(({ action }) => action)).toEqual(['BatchGetItem']);
    const others = items.map(({ p }) => ({ p: { N: `${p?.N}00` } })).slice(1);
    expect(await write(others)).toEqual({ written: 59, kept: 0 });
    calls.length = 0;
    await write(others);
    expect(calls.map(({ action }) => action)).not.toContain('BatchGetItem');
  });
});

describe('the write rate', () => {
  it('is never above its bound, whoever asks', async () => {
    const { signal } = new AbortController();
    const rate = defineWriteRate(1_000, signal);
    const started = performance.now();
    await Promise.all(Array.from({ length: 12 }, () => rate(25)));
    // The first waits for nothing, and each of the others for those before it.
    expect(performance.now() - started).toBeGreaterThanOrEqual(11 * 25 - 5);
  });

  it('lets nothing wait once it is interrupted', async () => {
    const controller = new AbortController();
    const rate = defineWriteRate(1, controller.signal);
    await rate(100);
    const waiting = rate(1);
    controller.abort();
    await expect(waiting).rejects.toThrow();
    await expect(rate(1)).rejects.toThrow();
  });
});
