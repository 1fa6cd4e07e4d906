import { setTimeout } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Item } from '../../../infra/bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  retry,
  writeAll,
} from '../../../infra/bulk/tableWriters.ts';
import { defineEmulatorClient } from '../../../infra/cli/tableOption.ts';
import { skipBackOff } from '../../support/faults/clock.ts';
import { AwsError, type Responses, useAws } from '../ops/aws.ts';

/** A table with these responses; emulators never leave part of a batch unprocessed. */
async function openTable(responses: Responses) {
  const { calls, variables } = await useAws(responses);
  const client = defineEmulatorClient(variables.AWS_ENDPOINT_URL, { maxAttempts: 1 });
  const { signal } = new AbortController();
  const table = { client, tableName: 't', signal };
  return { table, calls };
}

const items: Item[] = Array.from({ length: 60 }, (_, p) => ({ p: { N: String(p) } }));

it('the replacing writer resends only the unprocessed items of a batch', async () => {
  const toPuts = (input: object) => (input as { RequestItems: { t: object[] } }).RequestItems.t;
  const { table, calls } = await openTable({
    BatchWriteItem(input) {
      const puts = toPuts(input);
      return { UnprocessedItems: puts.length > 5 ? { t: puts.slice(-5) } : {} };
    },
  });
  let written = 0;
  await writeAll(items, defineReplacingWriter(table), (_, ofBatch) => {
    written += ofBatch;
  });
  expect(written).toBe(60);
  const sizes = calls.map(({ input }) => toPuts(input).length);
  expect(sizes.toSorted((a, b) => a - b)).toEqual([5, 5, 5, 10, 25, 25]);
});

it('a writer fails at an error that retries do not fix, after all writes have ended', async () => {
  onTestFinished(skipBackOff());
  for (const [name, times] of [
    ['AccessDeniedException', 1],
    ['ThrottlingException', 20],
  ] as const) {
    const { table, calls } = await openTable({
      PutItem({ Item }) {
        if ((Item as (typeof items)[0]).p?.N !== '0') return setTimeout(20, {});
        throw new AwsError(name, 'not you');
      },
    });
    const refusal = { name };
    await expect(defineAddingWriter(table, 'p')(items)).rejects.toMatchObject(refusal);
    expect(calls).toHaveLength(59 + times);
  }
});

it('no writer writes after an interrupt', async () => {
  const { table, calls } = await openTable({});
  const interrupted = { ...table, signal: AbortSignal.abort() };
  for (const write of [defineReplacingWriter(interrupted), defineAddingWriter(interrupted, 'p')]) {
    await expect(async () => write(items)).rejects.toThrow('aborted');
  }
  expect(calls).toEqual([]);
});

it('a call is retried for about a minute at most', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(vi.spyOn(Math, 'random').mockReturnValue(1).mockRestore);
  const started = Date.now();
  const outage = new AwsError('ThrottlingException', 'x');
  const refusal = expect(retry(() => Promise.reject(outage), new AbortController().signal)).rejects;
  await Promise.all([refusal.toBe(outage), vi.runAllTimersAsync()]);
  expect(Date.now() - started).toBe(6_300 + 13 * 5_000);
});

it('a writer takes one write unit for each started KB of each item', async () => {
  const taken: number[] = [];
  const takeUnits = async (units: number) => void taken.push(units);
  const { table } = await openTable({ BatchWriteItem: () => ({}), PutItem: () => ({}) });
  const large = { p: { N: '99' }, name: { S: 'x'.repeat(1_024) } };
  await defineReplacingWriter({ ...table, takeUnits })([...items.slice(0, 2), large]);
  expect(taken.splice(0)).toEqual([4]);
  const medium = { p: { N: '98' }, name: { S: 'x'.repeat(980) } };
  await defineAddingWriter({ ...table, takeUnits }, 'p')([...items.slice(0, 1), medium, large]);
  expect(taken).toEqual([1, 1, 2]);
});

describe('the write rate', () => {
  it('is never above its bound, with any number of writers', async () => {
    const { signal } = new AbortController();
    const rate = defineWriteRate(1_000, signal);
    // Time without writes adds nothing to the bound.
    await setTimeout(100);
    const started = performance.now();
    await Promise.all(Array.from({ length: 12 }, () => rate(25)));
    // The first does not wait; each of the others waits for those before it.
    expect(performance.now() - started).toBeGreaterThanOrEqual(11 * 25 - 5);
  });

  it('delays nothing after an interrupt', async () => {
    const controller = new AbortController();
    const rate = defineWriteRate(1, controller.signal);
    await rate(100);
    const waiting = rate(1);
    controller.abort();
    await expect(waiting).rejects.toThrow();
    await expect(rate(1)).rejects.toThrow();
  });
});
