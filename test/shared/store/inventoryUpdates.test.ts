import {
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readVersion } from '../../../shared/store/inventoryRecord.ts';
import { defineInventoryUpdates } from '../../../shared/store/inventoryUpdates.ts';
import { testEngine } from '../../support/engines.ts';
import { useNoBackOff } from '../../support/faults/clock.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const lostUpdate = { action: 'UpdateItem', fault: 'lostResponse', times: 1 } as const;
const conflict = { action: 'UpdateItem', fault: 'transactionConflict' } as const;

const refused = { name: 'PreconditionFailed' };
const unavailable = { name: 'StoreUnavailable' };

describe(`updates on ${testEngine.name}`, () => {
  useNoBackOff();
  const tables = useStoreTables(testEngine.start);
  let latest = 0n;

  /** An entry of its own for a test, pending, with a stock of 25. */
  async function open() {
    latest += 1n;
    const petId = latest;
    const key = { TableName: 'inventory', Key: { p: { N: `${petId}` } } };

    async function put(more: object) {
      const Item = { ...key.Key, q: { N: '25' }, s: { S: 'p' }, ...more };
      await tables.client().send(new PutItemCommand({ TableName: 'inventory', Item }));
    }
    async function read() {
      const get = new GetItemCommand({ ...key, ConsistentRead: true });
      const { Item = {} } = await tables.client().send(get);
      return { quantity: Number(Item.q?.N), version: readVersion(Item) };
    }
    const remove = () => tables.client().send(new DeleteItemCommand(key));
    const set = (quantity: number, versions?: readonly string[]) =>
      defineInventoryUpdates(tables.client(), 'inventory').setQuantity({
        petId,
        quantity,
        versions,
      });

    await put({});
    const { version } = await read();
    return { petId, version, put, read, remove, set };
  }
  const countUpdates = () => tables.endpoint().calls.get('UpdateItem');

  it('succeed only in a state that If-Match names, and in no earlier one that looks the same', async () => {
    const { petId, version: unchanged, put, read, set } = await open();
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
    const { petId, version, read, remove, set } = await open();
    await remove();
    const message = `There is no inventory entry with petId ${petId}.`;
    for (const versions of [undefined, [], [version]]) {
      await expect(set(1, versions)).rejects.toMatchObject({ name: 'NotFound', message });
    }
    // There is no entry to read.
    await expect(read()).rejects.toThrow('p (petId) is missing');
  });

  it('succeed at the retry after a lost response, since the entry has their own version', async () => {
    const { petId, version, read, set } = await open();
    tables.endpoint().fail(lostUpdate);
    const updated = await set(24, [version]);
    expect(updated.item).toEqual({ petId, quantity: 24, status: 'pending' });
    expect(await read()).toEqual({ quantity: 24, version: updated.version });
    expect(countUpdates()).toBe(2);
  });

  it('are 503, never 412, if others came after a lost response: they may have taken effect', async () => {
    const { version, set } = await open();
    const held = Promise.withResolvers<void>();
    tables.endpoint().fail(lostUpdate);
    tables.endpoint().fail({ ...conflict, times: 1, until: held.promise });
    const updating = set(24, [version]);
    await vi.waitFor(() => expect(countUpdates()).toBe(2), 100_000);
    await set(7);
    held.resolve();
    const cause = { message: 'An attempt without a response may have taken effect.' };
    await expect(updating).rejects.toMatchObject({ ...unavailable, cause });
  });

  it.each([
    ['the read of the entry was retried', { action: 'GetItem', fault: 'lostResponse', times: 1 }],
    ['they conflicted with a transaction', { ...conflict, times: 1 }],
  ] as const)('are 412 if others came before, and only %s', async (_, rule) => {
    const { version, set } = await open();
    await set(7);
    tables.endpoint().fail(rule);
    await expect(set(24, [version])).rejects.toMatchObject(refused);
  });

  it('are 503 if others came before, and an attempt was throttled: attempts are counted, whatever they got', async () => {
    const { version, read, set } = await open();
    await set(7);
    tables.endpoint().fail({ action: 'UpdateItem', fault: 'throughputExceeded', times: 1 });
    await expect(set(24, [version])).rejects.toMatchObject(unavailable);
    expect((await read()).quantity).toBe(7);
  });

  it('are retried after a conflict with a transaction, and are 503 after the tenth', async () => {
    const { version, read, set } = await open();
    tables.endpoint().fail({ ...conflict, times: 4 });
    await set(24, [version]);
    expect((await read()).quantity).toBe(24);
    await tables.endpoint().heal();
    tables.endpoint().fail(conflict);
    await expect(set(23)).rejects.toMatchObject(unavailable);
    expect(countUpdates()).toBe(10);
  });

  it('of the same number from the same state succeed exactly once', async () => {
    const { version, set } = await open();
    const sell = () => set(24, [version]);
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, sell));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

it('updates pause up to twice as long before each further attempt', async () => {
  const send = () =>
    Promise.reject(new TransactionConflictException({ message: '', $metadata: {} }));
  const client = { send } as unknown as DynamoDBClient;
  const updates = defineInventoryUpdates(client, 'inventory');
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
