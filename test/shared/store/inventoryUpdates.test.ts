import { describe, test, vi } from 'vitest';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';
import { openEntry, type UpdatedEntry } from './updatedEntry.ts';

const lostUpdate = { action: 'UpdateItem', fault: 'lostAnswer' } as const;
const lostTransaction = { action: 'TransactWriteItems', fault: 'lostAnswer' } as const;
const canceled = { action: 'TransactWriteItems', fault: 'transactionCanceled' } as const;

// At once, since several wait for others: each has an entry of its own.
describe.concurrent.each(engines)('updates on $name', ({ start }) => {
  const tables = useStoreTables(start);
  const it = test.extend<{ entry: UpdatedEntry }>({
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are wanted.
    entry: async ({}, use) => {
      const entry = await openEntry(tables);
      await use(entry);
      await entry.close();
    },
  });

  describe('whose answer is lost', () => {
    it('succeeds at the next attempt, since the entry has its own version', async ({
      entry: { petId, endpoint, read, set },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail({ ...lostUpdate, times: 1 });
      const updated = await set(24, [version]);
      expect(updated.item).toEqual({ petId, quantity: 24, status: 'pending' });
      expect(await read()).toMatchObject({ quantity: 24, version: updated.version });
      expect(endpoint.calls.get('UpdateItem')).toBe(2);
    });

    it('is not told from one that never happened when others came after it: 503, never 412', async ({
      entry: { endpoint, others, read, set },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail({ ...lostUpdate, times: 1 });
      const updating = set(24, [version]);
      while ((await read()).quantity === 25) await new Promise((resolve) => setTimeout(resolve, 1));
      await set(7, undefined, undefined, others);
      // The next attempt follows within some fifty milliseconds, and may have been the faster one.
      const outcome = await updating.then(
        () => 'updated',
        (error: Error) => error.name,
      );
      expect(['updated', 'StoreUnavailable']).toContain(outcome);
    });

    it('is 412 for certain when only the look at the entry was repeated', async ({
      entry: { endpoint, others, read, set },
      expect,
    }) => {
      const { version } = await read();
      await set(10, undefined, undefined, others);
      endpoint.fail({ action: 'GetItem', fault: 'lostAnswer', times: 1 });
      await expect(set(24, [version])).rejects.toMatchObject({ name: 'PreconditionFailed' });
    });

    it('is 412 for certain when it was merely throttled before', async ({
      entry: { endpoint, others, read, set },
      expect,
    }) => {
      const { version } = await read();
      await set(7, undefined, undefined, others);
      endpoint.fail({ action: 'UpdateItem', fault: 'throughputExceeded', times: 1 });
      await expect(set(24, [version])).rejects.toMatchObject({ name: 'PreconditionFailed' });
    });
  });

  describe('that meets a transaction', () => {
    const conflict = { action: 'UpdateItem', fault: 'transactionConflict' } as const;

    it('is sent again, since it had no effect', async ({
      entry: { endpoint, read, set },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail({ ...conflict, times: 4 });
      await set(24, [version]);
      expect((await read()).quantity).toBe(24);
    });

    it('is 412 for certain when others came before it', async ({
      entry: { endpoint, others, read, set },
      expect,
    }) => {
      const { version } = await read();
      await set(7, undefined, undefined, others);
      endpoint.fail({ ...conflict, times: 1 });
      await expect(set(24, [version])).rejects.toMatchObject({ name: 'PreconditionFailed' });
    });

    it('is 503 at the fifth time', async ({ entry: { endpoint, set }, expect }) => {
      endpoint.fail(conflict);
      await expect(set(24)).rejects.toMatchObject({ name: 'StoreUnavailable' });
      expect(endpoint.calls.get('UpdateItem')).toBe(5);
    });
  });

  describe('with an idempotency key', () => {
    it('cost a read and a transaction', async ({ entry: { endpoint, read, set }, expect }) => {
      const { version } = await read();
      await set(24, [version], 'one');
      expect(Object.fromEntries(endpoint.calls)).toEqual({ GetItem: 1, TransactWriteItems: 1 });
    });

    it('answer the entry as it is then, with a version that nobody can foresee', async ({
      entry: { petId, read, set },
      expect,
    }) => {
      const first = await set(24, undefined, 'one');
      expect(first.item).toEqual({ petId, quantity: 24, status: 'pending' });
      expect(await read()).toMatchObject({ quantity: 24, version: first.version });
      const second = await set(24, undefined, 'two');
      expect(second.version).not.toBe(first.version);
    });

    it.for([true, false])(
      'have one effect however often they are sent (with If-Match: %s)',
      async (isConditional, { entry: { read, set }, expect }) => {
        const versions = isConditional ? [(await read()).version] : undefined;
        const first = await set(24, versions, 'one');
        await set(10, [first.version]);
        await set(11, undefined, 'another');
        const before = await read();
        expect(await set(24, versions, 'one')).toEqual(first);
        expect(await read()).toEqual(before);
      },
    );

    it('have one effect and one answer, however many come at once', async ({
      entry: { read, set },
      expect,
    }) => {
      const { version } = await read();
      const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => set(24, [version], 'one')));
      expect(new Set(answers.map((answer) => answer.version)).size).toBe(1);
      expect((await read()).version).toBe(answers[0]?.version);
    });

    it.for<[string, (version: string) => Parameters<UpdatedEntry['set']>]>([
      ['quantity', (version) => [23, [version], 'one']],
      ['If-Match', () => [24, undefined, 'one']],
      ['key', (version) => [24, [version], 'two']],
    ])(
      'are other requests with another %s',
      async ([, toOther], { entry: { read, set }, expect }) => {
        const { version } = await read();
        const first = await set(24, [version], 'one');
        const other = await set(...toOther(version)).catch((error: Error) => error.name);
        expect(other).not.toEqual(first);
      },
    );

    it('are other requests for another pet', async ({
      entry: { petId, put, set, updates },
      expect,
    }) => {
      await put({ p: { N: `${-petId}` } });
      await set(24, undefined, 'one');
      const { item } = await updates.setQuantity({ petId: -petId, quantity: 24 }, 'one');
      expect(item.petId).toBe(-petId);
    });

    it('have one effect when every answer to the first attempt is lost, and others come in between', async ({
      entry: { endpoint, others, read, set },
      expect,
    }) => {
      endpoint.fail(lostTransaction);
      await expect(set(24, undefined, 'one')).rejects.toThrow();
      await endpoint.heal();
      const first = await set(24, undefined, 'one');
      expect(await read()).toMatchObject({ quantity: 24, version: first.version });
      await set(7, undefined, undefined, others);
      expect(await set(24, undefined, 'one')).toEqual(first);
      expect((await read()).quantity).toBe(7);
    });

    it('are answered by the SDK’s own repetition when one answer is lost', async ({
      entry: { endpoint, read, set },
      expect,
    }) => {
      endpoint.fail({ ...lostTransaction, times: 1 });
      const { version } = await set(24, undefined, 'one');
      expect(endpoint.calls.get('TransactWriteItems')).toBe(2);
      expect(await read()).toMatchObject({ quantity: 24, version });
    });

    it('have no second effect after the entry was put back as it was', async ({
      entry: { put, read, set },
      expect,
    }) => {
      const { version } = await read();
      const first = await set(24, [version], 'one');
      await put({});
      expect((await read()).version).toBe(version);
      expect(await set(24, [version], 'one')).toEqual(first);
      expect((await read()).quantity).toBe(25);
    });

    it('are new requests once 24 hours have passed', async ({
      entry: { petId, read, requestRow, set },
      expect,
    }) => {
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

    it('are 412 with the current version, also when the last update’s row is gone', async ({
      entry: { read, requestRow, set },
      expect,
    }) => {
      const { version } = await read();
      await set(10, undefined, 'another');
      await requestRow(null);
      await expect(set(24, [version], 'one')).rejects.toMatchObject({
        name: 'PreconditionFailed',
        version: (await read()).version,
      });
      expect((await read()).quantity).toBe(10);
    });

    it('take any of the versions that If-Match names', async ({ entry: { read, set }, expect }) => {
      const { version } = await read();
      const first = await set(24, ['nonsense', version], 'one');
      await set(23, [version, first.version], 'two');
      expect((await read()).quantity).toBe(23);
    });

    it.for([
      ['without If-Match', () => undefined],
      ['with a tag', (version: string) => [version]],
      ['with two tags', (version: string) => [version, 'AQIDBAU']],
      ['with two tags, in another order', (version: string) => ['AQIDBAU', version]],
    ] as const)(
      'are held to the status that they answer, %s',
      async ([, toVersions], { entry: { endpoint, put, read, set }, expect }) => {
        const { version } = await set(25);
        await endpoint.heal();
        const held = Promise.withResolvers<void>();
        // Its first attempt is refused only once the status has changed.
        endpoint.fail({ ...canceled, times: 1, until: held.promise });
        const updating = set(24, toVersions(version), 'one');
        await vi.waitFor(() => expect(endpoint.calls.get('TransactWriteItems')).toBe(1));
        await put({ s: { S: 's' }, v: { B: Buffer.from(version, 'base64url') } });
        held.resolve();
        expect((await updating).item).toMatchObject({ quantity: 24, status: 'sold' });
        expect((await read()).quantity).toBe(24);
      },
    );

    it('are sent again after a conflict, in which nothing was done', async ({
      entry: { endpoint, read, set },
      expect,
    }) => {
      endpoint.fail({ ...canceled, times: 4 });
      const { version } = await set(24, undefined, 'one');
      expect(await read()).toMatchObject({ quantity: 24, version });
    });

    it.for(['transactionCanceled', 'transactionThrottled', 'transactionOverTable'] as const)(
      'are 503 after the last of several attempts: %s',
      async (fault, { entry: { endpoint, read, set }, expect }) => {
        endpoint.fail({ action: 'TransactWriteItems', fault });
        await expect(set(24, undefined, 'one')).rejects.toMatchObject({ name: 'StoreUnavailable' });
        expect((await read()).quantity).toBe(25);
      },
    );

    it('have their answer at once while another update of the entry is at work', async ({
      entry: { petId, endpoint, set },
      expect,
    }) => {
      endpoint.fail({ action: 'TransactWriteItems', fault: 'transactionRepeated' });
      expect(await set(24, undefined, 'one')).toEqual({
        item: { petId, quantity: 24, status: 'available' },
        version: 'AQIDBAU',
      });
      expect(endpoint.calls.get('TransactWriteItems')).toBe(1);
    });

    it('are failures of ours when a transaction is canceled for what it asks', async ({
      entry: { endpoint, set },
      expect,
    }) => {
      endpoint.fail({ action: 'TransactWriteItems', fault: 'transactionInvalid' });
      await expect(set(24, undefined, 'one')).rejects.toMatchObject({
        name: 'TransactionCanceledException',
      });
      expect(endpoint.calls.get('TransactWriteItems')).toBe(1);
    });

    it('fail at a record that is not one of ours, and leave it', async ({
      entry: { put, read, set },
      expect,
    }) => {
      await put({ s: { S: 'x' } });
      await expect(set(24, undefined, 'one')).rejects.toThrow('unknown status "x"');
      expect((await read()).quantity).toBe(25);
    });

    it('remember no refusal', async ({ entry: { petId, updates, put, set }, expect }) => {
      await expect(set(24, ['nonsense'], 'one')).rejects.toMatchObject({
        name: 'PreconditionFailed',
      });
      const absent = { petId: -petId, quantity: 1 };
      await expect(updates.setQuantity(absent, 'one')).rejects.toMatchObject({
        name: 'NotFound',
        message: `There is no inventory entry with petId ${-petId}.`,
      });
      await put({ p: { N: `${-petId}` } });
      expect((await updates.setQuantity(absent, 'one')).item.quantity).toBe(1);
    });

    it('find their answer also when the entry is gone', async ({
      entry: { set, remove },
      expect,
    }) => {
      const first = await set(24, undefined, 'one');
      await remove();
      expect(await set(24, undefined, 'one')).toEqual(first);
      await expect(set(24, undefined, 'two')).rejects.toMatchObject({ name: 'NotFound' });
    });
  });

  it('of the same number from the same state succeed exactly once', async ({
    entry: { read, set },
    expect,
  }) => {
    const { version } = await read();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        set(24, [version], index % 2 ? `${index}` : undefined),
      ),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('of an entry that was never updated are held to its content', async ({
    entry: { put, read, set },
    expect,
  }) => {
    const { version } = await read();
    await put({ q: { N: '26' } });
    await expect(set(1, [version])).rejects.toMatchObject({ name: 'PreconditionFailed' });
    expect((await read()).quantity).toBe(26);
  });
});
