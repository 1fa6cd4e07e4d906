import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, test, vi } from 'vitest';
import { engines } from '../../support/engines.ts';
import { useStoreTables } from '../../support/storeTables.ts';
import { openEntry, type UpdatedEntry } from './updatedEntry.ts';

const lostUpdate = { action: 'UpdateItem', fault: 'lostAnswer' } as const;
/** The note that a request is at work is written, and its answer is not. */
const unwritten = { action: 'PutItem', fault: 'accessDenied', after: 1, times: 1 } as const;
const slowlyWritten = { ...unwritten, fault: 'reset' } as const;

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

  describe('with an idempotency key', () => {
    it('cost three writes, and no read', async ({ entry: { endpoint, read, set }, expect }) => {
      const { version } = await read();
      await set(24, [version], 'one');
      expect(Object.fromEntries(endpoint.calls)).toEqual({ UpdateItem: 1, PutItem: 2 });
    });

    it.for([true, false])(
      'have one effect however often they are sent (with If-Match: %s)',
      async (isConditional, { entry: { read, set, overtake }, expect }) => {
        const versions = isConditional ? [(await read()).version] : undefined;
        const first = await set(24, versions, 'one');
        await overtake(undefined, 'another');
        const before = await read();
        expect(await set(24, versions, 'one')).toEqual(first);
        expect(await read()).toEqual(before);
      },
    );

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

    it('find the answer that was never written down by way of those that came after', async ({
      entry: { endpoint, read, set, overtake },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail(unwritten);
      await expect(set(24, [version], 'one')).rejects.toThrow();
      expect((await read()).quantity).toBe(24);
      await overtake('a', 'b', 'c');
      const { item } = await set(24, [version], 'one');
      expect(item.quantity).toBe(24);
      expect((await read()).quantity).toBe(12);
      // It is written down now, so the way there is no longer needed.
      await overtake(undefined, 'd');
      expect((await set(24, [version], 'one')).item.quantity).toBe(24);
    });

    it('are 412 when those that came after lead back to what If-Match named', async ({
      entry: { read, set, overtake },
      expect,
    }) => {
      const { version } = await read();
      await overtake('a', 'b', 'c');
      await expect(set(24, [version], 'late')).rejects.toMatchObject({
        name: 'PreconditionFailed',
        version: (await read()).version,
      });
    });

    it('are 503 while an answer on the way there is still being written down', async ({
      entry: { endpoint, read, set },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail(unwritten);
      await expect(set(24, [version], 'one')).rejects.toThrow();
      const between = (await read()).version;
      await endpoint.heal();
      endpoint.fail(unwritten);
      await expect(set(23, [between], 'two')).rejects.toThrow();
      await expect(set(24, [version], 'one')).rejects.toMatchObject({ name: 'StoreUnavailable' });
      await set(23, [between], 'two');
      expect((await set(24, [version], 'one')).item.quantity).toBe(24);
    });

    describe.each([true, false])(
      'sent again while at work (with If-Match: %s)',
      (isConditional) => {
        const send = ({ set }: UpdatedEntry, version: string) =>
          set(24, isConditional ? [version] : undefined, 'one');

        it('wait for the answer, or are 503, and have no second effect around another', async ({
          entry,
          expect,
        }) => {
          const { endpoint, read, overtake } = entry;
          const { version } = await read();
          const held = Promise.withResolvers<void>();
          endpoint.fail({ ...slowlyWritten, until: held.promise });
          const first = send(entry, version);
          await vi.waitFor(async () => expect((await read()).quantity).toBe(24), 3_000);
          await overtake(undefined);
          await expect(send(entry, version)).rejects.toMatchObject({ name: 'StoreUnavailable' });
          held.resolve();
          expect((await first).item.quantity).toBe(24);
          expect((await read()).quantity).toBe(10);
          expect(await send(entry, version)).toEqual(await first);
          expect((await read()).quantity).toBe(10);
        });

        it('have one effect and one answer, however many come at once', async ({
          entry,
          expect,
        }) => {
          const { version } = await entry.read();
          const answers = await Promise.all([1, 2, 3, 4].map(() => send(entry, version)));
          expect(new Set(answers.map((answer) => answer.version)).size).toBe(1);
        });
      },
    );

    it('are 503 until an attempt that died can no longer be at work, and then go on', async ({
      entry: { endpoint, set, overtake, age },
      expect,
    }) => {
      endpoint.fail({ ...unwritten, times: 2 });
      await expect(set(24, undefined, 'one')).rejects.toThrow();
      await endpoint.heal();
      await overtake(undefined);
      await age(20_000);
      await expect(set(24, undefined, 'one')).rejects.toMatchObject({ name: 'StoreUnavailable' });
      await age(16_000);
      expect((await set(24, undefined, 'one')).item.quantity).toBe(24);
    });

    it('are 503, not 412, when nobody knows whether an earlier attempt had its effect', async ({
      entry: { endpoint, read, set, overtake },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail(unwritten);
      await expect(set(24, [version], 'one')).rejects.toThrow();
      await overtake(undefined);
      await expect(set(24, [version], 'one')).rejects.toMatchObject({ name: 'StoreUnavailable' });
    });

    it('are answered at once when an attempt that died has left its effect', async ({
      entry: { endpoint, read, set, overtake },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail({ ...unwritten, times: 2 });
      await expect(set(24, [version], 'one')).rejects.toThrow();
      await endpoint.heal();
      expect((await set(24, [version], 'one')).item.quantity).toBe(24);
      await overtake(undefined);
      expect((await set(24, [version], 'one')).item.quantity).toBe(24);
      expect((await read()).quantity).toBe(10);
    });

    it('know their own note when its answer was lost', async ({
      entry: { endpoint, read, set },
      expect,
    }) => {
      const { version } = await read();
      endpoint.fail({ action: 'PutItem', fault: 'lostAnswer', times: 1 });
      expect((await set(24, [version], 'one')).item.quantity).toBe(24);
    });

    it('remember no refusal', async ({ entry: { petId, updates, put, set }, expect }) => {
      await expect(set(24, ['nonsense'], 'one')).rejects.toMatchObject({
        name: 'PreconditionFailed',
      });
      await put({ p: { N: `${petId}` } });
      await expect(
        updates.setQuantity({ petId: -petId, quantity: 1 }, 'one'),
      ).rejects.toMatchObject({ name: 'NotFound' });
      await tables.client().send(
        new PutItemCommand({
          TableName: 'inventory',
          Item: { p: { N: `${-petId}` }, q: { N: '5' }, s: { S: 'a' } },
        }),
      );
      const { item } = await updates.setQuantity({ petId: -petId, quantity: 1 }, 'one');
      expect(item.quantity).toBe(1);
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

  it('of a record with an earlier release’s count are held to it, and give it a version', async ({
    entry: { put, read, set },
    expect,
  }) => {
    await put({ v: { N: '3' } });
    expect((await read()).version).toBe('3.25.p');
    await expect(set(1, ['2.25.p'])).rejects.toMatchObject({ name: 'PreconditionFailed' });
    const { version } = await set(24, ['3.25.p']);
    expect(await read()).toMatchObject({ quantity: 24, version, v: { B: expect.anything() } });
    await expect(set(1, ['3.25.p'])).rejects.toMatchObject({ name: 'PreconditionFailed', version });
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
