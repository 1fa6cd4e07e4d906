import { type DynamoDBClient, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { testEngine } from '../../support/engines.ts';
import { useNoBackOff } from '../../support/faults/clock.ts';
import { useStoreTables } from '../../support/storeTables.ts';
import { openEntry, type UpdatedEntry } from './updatedEntry.ts';

const lostUpdate = { action: 'UpdateItem', fault: 'lostResponse', times: 1 } as const;
const conflict = { action: 'UpdateItem', fault: 'transactionConflict' } as const;
const lostTransaction = { action: 'TransactWriteItems', fault: 'lostResponse' } as const;
const canceled = { action: 'TransactWriteItems', fault: 'transactionCanceled' } as const;

const refused = { name: 'PreconditionFailed' };
const unavailable = { name: 'StoreUnavailable' };
const notFound = (petId: bigint) => ({
  name: 'NotFound',
  message: `There is no inventory entry with petId ${petId}.`,
});

// Concurrent, since several tests wait. Each has its own entry, pending, with a stock of 25.
describe.concurrent(`updates on ${testEngine.name}`, () => {
  useNoBackOff();
  const tables = useStoreTables(testEngine.start);
  const opened: UpdatedEntry[] = [];
  const open = async () => {
    const entry = await openEntry(tables);
    opened.push(entry);
    return entry;
  };
  afterAll(() => Promise.all(opened.map(({ close }) => close())));

  describe('without an idempotency key', () => {
    it('succeed only in a state that If-Match names, and in no earlier one that looks the same', async () => {
      const { petId, put, read, set } = await open();
      const { version: unchanged } = await read();
      const first = await set(24, ['nonsense', unchanged]);
      expect(first.item).toEqual({ petId, quantity: 24, status: 'pending' });
      await expect(set(23, [unchanged])).rejects.toMatchObject(refused);
      await set(7);
      const second = await set(24);
      expect(second.version).not.toBe(first.version);
      await expect(set(23, [first.version])).rejects.toMatchObject(refused);
      await put({ q: { N: '26' } });
      for (const versions of [[second.version], [unchanged], [], ['W/AAAABQBh'], ['5.a'], ['']]) {
        await expect(set(1, versions)).rejects.toMatchObject(refused);
      }
      expect((await read()).quantity).toBe(26);
    });

    it('create nothing, with or without If-Match', async () => {
      const { petId, read, remove, set } = await open();
      const { version } = await read();
      await remove();
      for (const versions of [undefined, [], [version]]) {
        await expect(set(1, versions)).rejects.toMatchObject(notFound(petId));
      }
      // There is no entry to read.
      await expect(read()).rejects.toThrow('p (petId) is missing');
    });

    it('succeed at the retry after a lost response, since the entry has their own version', async () => {
      const { petId, endpoint, read, set } = await open();
      const { version } = await read();
      endpoint.fail(lostUpdate);
      const updated = await set(24, [version]);
      expect(updated.item).toEqual({ petId, quantity: 24, status: 'pending' });
      expect(await read()).toMatchObject({ quantity: 24, version: updated.version });
      expect(endpoint.calls.get('UpdateItem')).toBe(2);
    });

    it('are 503, never 412, if others came after a lost response: they may have taken effect', async () => {
      const { endpoint, others, read, set } = await open();
      const { version } = await read();
      const held = Promise.withResolvers<void>();
      endpoint.fail(lostUpdate);
      endpoint.fail({ ...conflict, times: 1, until: held.promise });
      const updating = set(24, [version]);
      await vi.waitFor(async () => expect((await read()).quantity).toBe(24), 100_000);
      await set(7, undefined, undefined, others);
      held.resolve();
      const cause = { message: 'An attempt without a response may have taken effect.' };
      await expect(updating).rejects.toMatchObject({ ...unavailable, cause });
    });

    it.each([
      ['the read of the entry was retried', { action: 'GetItem', fault: 'lostResponse', times: 1 }],
      ['they were throttled', { action: 'UpdateItem', fault: 'throughputExceeded', times: 1 }],
      ['they conflicted with a transaction', { ...conflict, times: 1 }],
    ] as const)('are 412 if others came before, and only %s', async (_, rule) => {
      const { endpoint, others, read, set } = await open();
      const { version } = await read();
      await set(7, undefined, undefined, others);
      endpoint.fail(rule);
      await expect(set(24, [version])).rejects.toMatchObject(refused);
    });

    it('are retried after a conflict with a transaction, and are 503 after the tenth', async () => {
      const { endpoint, read, set } = await open();
      const { version } = await read();
      endpoint.fail({ ...conflict, times: 4 });
      await set(24, [version]);
      expect((await read()).quantity).toBe(24);
      await endpoint.heal();
      endpoint.fail(conflict);
      await expect(set(23)).rejects.toMatchObject(unavailable);
      expect(endpoint.calls.get('UpdateItem')).toBe(10);
    });
  });

  describe('with an idempotency key', () => {
    it.each([
      ['available', 'a', 1],
      ['pending', 'p', 2],
    ] as const)(
      'take %3$i transactions and no read if the entry is %1$s',
      async (status, letter, TransactWriteItems) => {
        const { petId, endpoint, put, set } = await open();
        await put({ s: { S: letter } });
        const { item } = await set(24, undefined, 'one');
        expect(item).toEqual({ petId, quantity: 24, status });
        expect(Object.fromEntries(endpoint.calls)).toEqual({ TransactWriteItems });
      },
    );

    it.each([true, false])(
      'have one effect and one response when sent several times, also at once (with If-Match: %s)',
      async (isConditional) => {
        const { put, read, set } = await open();
        const { version } = await read();
        const versions = isConditional ? [version] : undefined;
        const responses = await Promise.all([1, 2, 3, 4].map(() => set(24, versions, 'one')));
        const { isReplay, ...first } = responses.find((one) => !one.isReplay) ?? expect.fail();
        const replay = { ...first, isReplay: true };
        expect(responses).toEqual(expect.arrayContaining([first, replay, replay, replay]));
        expect((await read()).version).toBe(first.version);
        await set(11, undefined, 'another');
        const before = await read();
        expect(await set(24, versions, 'one')).toEqual(replay);
        expect(await read()).toEqual(before);
        // Nor after the entry was restored.
        await put({});
        expect((await read()).version).toBe(version);
        expect(await set(24, versions, 'one')).toEqual(replay);
        expect((await read()).quantity).toBe(25);
      },
    );

    it('find their response also if the entry is gone', async () => {
      const { petId, set, remove } = await open();
      const first = await set(24, undefined, 'one');
      await remove();
      expect(await set(24, undefined, 'one')).toEqual({ ...first, isReplay: true });
      await expect(set(24, undefined, 'two')).rejects.toMatchObject(notFound(petId));
    });

    it.each(['available', 'pending'])(
      'are refused if another update of the %s entry had the key, and change nothing',
      async (status) => {
        const { put, read, set } = await open();
        await put({ s: { S: status[0] } });
        const { version } = await read();
        const first = await set(24, [version], 'one');
        const reused = { name: 'IdempotencyKeyReused' };
        for (const versions of [undefined, [first.version], ['nonsense', first.version]]) {
          for (const quantity of versions ? [24, 23] : [24]) {
            await expect(set(quantity, versions, 'one')).rejects.toMatchObject(reused);
          }
        }
        // The entry is checked first.
        await expect(set(23, [version], 'one')).rejects.toMatchObject(refused);
        await expect(set(23, [version], 'two')).rejects.toMatchObject(refused);
        expect(await read()).toMatchObject({ quantity: 24, version: first.version });
      },
    );

    it('have one effect if all responses to the first request are lost and others come in between', async () => {
      const { endpoint, others, read, set } = await open();
      endpoint.fail(lostTransaction);
      await expect(set(24, undefined, 'one')).rejects.toThrow();
      await endpoint.heal();
      const first = await set(24, undefined, 'one');
      expect(await read()).toMatchObject({ quantity: 24, version: first.version });
      await set(7, undefined, undefined, others);
      expect(await set(24, undefined, 'one')).toEqual({ ...first, isReplay: true });
      expect((await read()).quantity).toBe(7);
    });

    it.each([
      // One more, since the entry is not available.
      ['a lost response', { ...lostTransaction, times: 1 }, 3],
      ['conflicts without effect', { ...canceled, times: 3 }, 5],
    ] as const)('are retried after %s', async (_, rule, calls) => {
      const { endpoint, read, set } = await open();
      endpoint.fail(rule);
      const { version } = await set(24, undefined, 'one');
      expect(await read()).toMatchObject({ quantity: 24, version });
      expect(endpoint.calls.get('TransactWriteItems')).toBe(calls);
    });

    it.each(['Canceled', 'Throttled', 'OverTable', 'OfStatus'] as const)(
      'are 503 after the last attempt of a transaction: %s',
      async (kind) => {
        const { endpoint, read, set } = await open();
        endpoint.fail({ action: 'TransactWriteItems', fault: `transaction${kind}` });
        await expect(set(24, undefined, 'one')).rejects.toMatchObject(unavailable);
        expect(endpoint.calls.get('TransactWriteItems')).toBe(10);
        expect((await read()).quantity).toBe(25);
      },
    );

    it('are new requests after 24 hours', async () => {
      const { petId, read, requestRow, set } = await open();
      const first = await set(24, undefined, 'one');
      await set(7);
      const hours = (Number((await requestRow()).t?.N) - Date.now() / 1_000) / 3_600;
      expect(hours).toBeCloseTo(24, 1);
      await requestRow({ t: { N: String(Math.floor(Date.now() / 1_000)) } });
      const again = await set(24, undefined, 'one');
      expect(again.item).toEqual({ petId, quantity: 24, status: 'pending' });
      expect(again.version).not.toBe(first.version);
      expect((await read()).version).toBe(again.version);
    });

    it('are 412 with the current version, also if the last update’s row is gone', async () => {
      const { read, requestRow, set } = await open();
      const { version } = await read();
      await set(10, undefined, 'another');
      await requestRow(null);
      const current = { ...refused, version: (await read()).version };
      await expect(set(24, [version], 'one')).rejects.toMatchObject(current);
      expect((await read()).quantity).toBe(10);
    });

    it.each([
      ['without If-Match', () => undefined],
      ['with a tag', (version: string) => [version]],
      ['with two tags', (version: string) => [version, 'AQIDBAU']],
      ['with two tags, in another order', (version: string) => ['AQIDBAU', version]],
    ] as const)('return the status at the time of their effect, %s', async (_, toVersions) => {
      const { endpoint, put, read, set } = await open();
      const { version } = await set(25);
      await endpoint.heal();
      const held = Promise.withResolvers<void>();
      // Its first attempt is refused only after the status has changed.
      endpoint.fail({ ...canceled, times: 1, until: held.promise });
      const updating = set(24, toVersions(version), 'one');
      const toCalls = () => endpoint.calls.get('TransactWriteItems');
      await vi.waitFor(() => expect(toCalls()).toBe(1), 100_000);
      await put({ s: { S: 's' }, v: { B: Buffer.from(version, 'base64url') } });
      held.resolve();
      expect((await updating).item).toMatchObject({ quantity: 24, status: 'sold' });
      expect((await read()).quantity).toBe(24);
    });

    it.each([false, true])(
      'are settled without another transaction if the entry changed during a conflict (after their effect: %s)',
      async (isDone) => {
        const { endpoint, others, read, set } = await open();
        const { version } = await read();
        const first = isDone ? await set(24, [version], 'one') : undefined;
        await endpoint.heal();
        const held = Promise.withResolvers<void>();
        endpoint.fail({ ...canceled, times: 1, until: held.promise });
        const updating = set(24, [version], 'one');
        await set(7, undefined, undefined, others);
        held.resolve();
        if (first) expect(await updating).toEqual({ ...first, isReplay: true });
        else await expect(updating).rejects.toMatchObject(refused);
        expect(endpoint.calls.get('TransactWriteItems')).toBe(1);
        expect((await read()).quantity).toBe(7);
      },
    );

    it('are settled for another update after the response of the first has expired', async () => {
      const { endpoint, others, read, requestRow, set } = await open();
      const { version } = await read();
      await set(24, [version], 'one');
      await requestRow({ t: { N: '1' } });
      endpoint.fail({ ...canceled, times: 1 });
      await set(7, undefined, undefined, others);
      await expect(set(24, [version], 'one')).rejects.toMatchObject(refused);
    });

    it('have their response at once while another update of the entry is in progress', async () => {
      const { petId, endpoint, set } = await open();
      endpoint.fail({ action: 'TransactWriteItems', fault: 'transactionRepeated' });
      expect(await set(24, undefined, 'one')).toEqual({
        item: { petId, quantity: 24, status: 'available' },
        version: 'AQIDBAU',
        isReplay: true,
      });
      expect(endpoint.calls.get('TransactWriteItems')).toBe(1);
    });

    it('are our own failures if a transaction is canceled as invalid', async () => {
      const { endpoint, set } = await open();
      endpoint.fail({ action: 'TransactWriteItems', fault: 'transactionInvalid' });
      const failure = { name: 'TransactionCanceledException' };
      await expect(set(24, undefined, 'one')).rejects.toMatchObject(failure);
      expect(endpoint.calls.get('TransactWriteItems')).toBe(1);
    });
  });

  it('of the same number from the same state succeed exactly once', async () => {
    const { read, set } = await open();
    const { version } = await read();
    const sell = (_: unknown, index: number) =>
      set(24, [version], index % 2 ? `${index}` : undefined);
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, sell));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

it('updates pause up to twice as long before each further attempt', async () => {
  const send = () =>
    Promise.reject(new TransactionConflictException({ message: '', $metadata: {} }));
  const client = { middlewareStack: { add() {} }, send } as unknown as DynamoDBClient;
  const updates = defineInventoryUpdates(client, 'inventory', 'requests');
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  onTestFinished(vi.spyOn(Math, 'random').mockReturnValue(0.5).mockRestore);
  const start = Date.now();
  const updating = updates.setQuantity({ petId: 1n, quantity: 1 });
  const refusal = expect(updating).rejects.toMatchObject({ ...unavailable, isConflict: true });
  await vi.runAllTimersAsync();
  await refusal;
  expect(Date.now() - start).toBe(50 + 100 + 200 + 6 * 400);
});
