import { describe, expect, it } from 'vitest';
import type { Item } from '../../../infra/bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
} from '../../../infra/bulk/tableWriters.ts';
import { defineEmulatorClient } from '../../../infra/cli/tableOption.ts';
import { type Answers, useAws } from '../ops/aws.ts';

/** A table of a DynamoDB that answers as told; emulators never leave a part of a batch undone. */
async function openTable(answers: Answers) {
  const { calls, variables } = await useAws(answers);
  const client = defineEmulatorClient(variables.AWS_ENDPOINT_URL, { maxAttempts: 1 });
  const { signal } = new AbortController();
  const table = { client, tableName: 't', key: ['p'] as const, giveUpAfter: 5_000, signal };
  return { table, calls };
}

interface Statements {
  readonly Statements: readonly { readonly Parameters: readonly [{ readonly N: string }] }[];
}

/** PartiQL's answers: an error, or none, for each statement. */
function answerStatements(toError: (id: string, index: number, of: number) => object | undefined) {
  return (input: object) => {
    const { Statements } = input as Statements;
    const errors = Statements.map(({ Parameters: [{ N }] }, index) =>
      toError(N, index, Statements.length),
    );
    return { Responses: errors.map((one) => (one ? { Error: one } : {})) };
  };
}

const items: Item[] = Array.from({ length: 60 }, (_, p) => ({ p: { N: String(p) } }));

it('the writer that replaces sends again what a batch left unprocessed, and nothing else', async () => {
  const toPuts = (input: object) => (input as { RequestItems: { t: object[] } }).RequestItems.t;
  const { table, calls } = await openTable({
    BatchWriteItem(input) {
      const puts = toPuts(input);
      return { UnprocessedItems: puts.length > 5 ? { t: puts.slice(-5) } : {} };
    },
  });
  expect(await defineReplacingWriter(table)(items)).toEqual({ written: 60, kept: 0 });
  const sizes = calls.map(({ input }) => toPuts(input).length);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 5, 5, 10, 25, 25]);
});

describe('the writer that adds', () => {
  it.each([
    'InternalServerError',
    'ProvisionedThroughputExceeded',
    'RequestLimitExceeded',
    'ThrottlingError',
    'TransactionConflict',
  ])('sends again the statements that met a %s, and nothing else', async (Code) => {
    const isMet = (index: number, of: number) => of >= 10 && index === 0;
    const BatchExecuteStatement = answerStatements((_, index, of) =>
      isMet(index, of) ? { Code, Message: 'slow down' } : undefined,
    );
    const { table, calls } = await openTable({ BatchExecuteStatement });
    expect(await defineAddingWriter(table)(items)).toEqual({ written: 60, kept: 0 });
    const sizes = calls.map(({ input }) => (input as unknown as Statements).Statements.length);
    expect(sizes.toSorted((a, b) => a - b)).toEqual([1, 1, 1, 10, 25, 25]);
  });

  it('fails at a statement that repeating would not help, and says why', async () => {
    const refused = { Code: 'AccessDenied', Message: 'not you' };
    const { table } = await openTable({ BatchExecuteStatement: answerStatements(() => refused) });
    await expect(defineAddingWriter(table)(items)).rejects.toThrow('AccessDenied: not you');
  });

  it('looks before it writes once much is there already, and stops looking once it is not', async () => {
    const isThere = (id = '') => Number(id) < 60;
    const { table, calls } = await openTable({
      BatchGetItem(input) {
        const { t } = input.RequestItems as { t: { Keys: Item[] } };
        return { Responses: { t: t.Keys.filter(({ p }) => isThere(p?.N)) } };
      },
      BatchExecuteStatement: answerStatements((id) =>
        isThere(id) ? { Code: 'DuplicateItem' } : undefined,
      ),
    });
    const write = defineAddingWriter(table);
    expect(await write(items)).toEqual({ written: 0, kept: 60 });
    calls.length = 0;
    expect(await write(items)).toEqual({ written: 0, kept: 60 });
    expect(calls.map(({ operation }) => operation)).toEqual(['BatchGetItem']);
    const others = items.map(({ p }) => ({ p: { N: `${p?.N}00` } })).slice(1);
    expect(await write(others)).toEqual({ written: 59, kept: 0 });
    calls.length = 0;
    await write(others);
    expect(calls.map(({ operation }) => operation)).not.toContain('BatchGetItem');
  });
});

it('a writer takes a write unit for each KB begun of each item', async () => {
  const taken: number[] = [];
  const takeUnits = async (units: number) => void taken.push(units);
  const { table } = await openTable({ BatchWriteItem: () => ({}) });
  const large = { p: { N: '99' }, name: { S: 'x'.repeat(1_024) } };
  await defineReplacingWriter({ ...table, takeUnits })([...items.slice(0, 26), large]);
  expect(taken).toEqual([25, 3]);
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
