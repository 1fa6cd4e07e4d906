import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  ScanCommand,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InventoryAdjustment } from '../../../shared/contract/inventoryAdjustment.ts';
import type { PetStatus } from '../../../shared/contract/values.ts';
import { defineInventoryAdjustments } from '../../../shared/store/inventoryAdjustments.ts';
import { toInventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { testEngine } from '../../support/engines.ts';
import { skipBackOff } from '../../support/faults/clock.ts';
import { useStoreTables } from '../../support/storeTables.ts';

const unavailable = { name: 'StoreUnavailable' };
const reused = { name: 'IdempotencyKeyReused' };
const canceled = { action: 'TransactWriteItems', fault: 'transactionCanceled' } as const;
const DAYS = 24 * 60 * 60;

describe(`adjustments on ${testEngine.name}`, () => {
  const tables = useStoreTables(testEngine.start);
  let latest = 0n;

  async function put(quantity: number, status: PetStatus = 'available'): Promise<bigint> {
    latest += 1n;
    const Item = toInventoryRecord({ petId: latest, quantity, status });
    await tables.client().send(new PutItemCommand({ TableName: 'inventory', Item }));
    return latest;
  }
  const adjust = (adjustments: readonly InventoryAdjustment[], key: string) => {
    const store = defineInventoryAdjustments(tables.client(), 'inventory', 'requests');
    return store.adjust(adjustments, key);
  };
  const sell = (petId: bigint, key: string, pieces = 1) => adjust([{ petId, delta: -pieces }], key);

  async function readTable(TableName: string) {
    const scan = new ScanCommand({ TableName, ConsistentRead: true });
    return (await tables.client().send(scan)).Items ?? [];
  }
  async function quantityOf(petId: bigint): Promise<number> {
    const items = await readTable('inventory');
    return Number(items.find(({ p }) => p?.N === `${petId}`)?.q?.N);
  }
  const findRow = async (deltas: string) =>
    (await readTable('requests')).find(({ d }) => d?.S === deltas) ?? {};

  it('take one transaction and one read, and keep deltas, time and outcome for 30 days', async () => {
    const [one, two] = [await put(3), await put(0, 'sold')];
    tables.endpoint().heal();
    const sale = [
      { petId: two, delta: 4 },
      { petId: one, delta: -3 },
    ];
    expect(await adjust(sale, 'first')).toEqual({
      isReplay: false,
      items: [
        { petId: two, quantity: 4, status: 'sold' },
        { petId: one, quantity: 0, status: 'available' },
      ],
    });
    const calls = { TransactWriteItems: 1, BatchGetItem: 1 };
    expect(Object.fromEntries(tables.endpoint().calls)).toEqual(calls);
    const now = Date.now() / 1_000;
    const row = await findRow(`${one}:-3,${two}:4`);
    expect(Number(row.w?.N)).toBeCloseTo(now, -1);
    expect(Number(row.t?.N) - Number(row.w?.N)).toBe(30 * DAYS);
  });

  it('store a refusal, and give it again after the stock has returned', async () => {
    const petId = await put(1);
    const refusal = { name: 'AdjustmentRefused', code: 'insufficient_stock' };
    await expect(sell(petId, 'late', 2)).rejects.toMatchObject({ ...refusal, isReplay: false });
    await adjust([{ petId, delta: 5 }], 'return');
    await expect(sell(petId, 'late', 2)).rejects.toMatchObject({ ...refusal, isReplay: true });
    await expect(sell(petId, 'late', 1)).rejects.toMatchObject(reused);
    expect(await quantityOf(petId)).toBe(6);
    const { c, m, t, w } = await findRow(`${petId}:-2`);
    expect([c?.S, m?.S]).toEqual([refusal.code, expect.stringContaining(`petId ${petId} has`)]);
    expect(Number(t?.N) - Number(w?.N)).toBe(30 * DAYS);
  });

  it('have the entries as they are at a replay, without those that are gone', async () => {
    const [one, two] = [await put(3), await put(3)];
    const sale = [one, two].map((petId) => ({ petId, delta: -1 }));
    await adjust(sale, 'replayed');
    const Key = { p: { N: `${one}` } };
    await tables.client().send(new DeleteItemCommand({ TableName: 'inventory', Key }));
    expect(await adjust(sale.toReversed(), 'replayed')).toEqual({
      isReplay: true,
      items: [{ petId: two, quantity: 2, status: 'available' }],
    });
  });

  it('are new after the row has expired, also if it is still there', async () => {
    const petId = await put(9);
    await sell(petId, 'old');
    const row = await findRow(`${petId}:-1`);
    const expired = { ...row, t: { N: `${Math.floor(Date.now() / 1_000)}` } };
    await tables.client().send(new PutItemCommand({ TableName: 'requests', Item: expired }));
    expect(await sell(petId, 'old')).toMatchObject({ isReplay: false });
    await expect(sell(petId, 'old', 2)).rejects.toMatchObject(reused);
    expect(await quantityOf(petId)).toBe(7);
  });

  it.each([
    ['TransactWriteItems', 2],
    ['PutItem', 9],
  ] as const)(
    'of a lost response to %s are repeated, and are no replay',
    async (action, pieces) => {
      const petId = await put(5);
      tables.endpoint().fail({ action, fault: 'lostResponse', times: 1 });
      const outcome = await sell(petId, `lost ${action}`, pieces).catch((error) => error);
      expect(outcome.isReplay).toBe(false);
      expect(await quantityOf(petId)).toBe(pieces === 2 ? 3 : 5);
    },
  );

  it('are found by a later request after all responses to the first were lost', async () => {
    onTestFinished(skipBackOff());
    const petId = await put(5);
    tables.endpoint().fail({ action: 'TransactWriteItems', fault: 'lostResponse' });
    await expect(sell(petId, 'lost')).rejects.toMatchObject(unavailable);
    await tables.endpoint().heal();
    expect(await sell(petId, 'lost')).toMatchObject({ isReplay: true, items: [{ quantity: 4 }] });
  });

  it('say that they were applied if the entries cannot be read', async () => {
    onTestFinished(skipBackOff());
    const petId = await put(5);
    const message = expect.stringContaining('The adjustment was applied');
    tables.endpoint().fail({ action: 'GetItem', fault: 'throttled' });
    const failure = { ...unavailable, message, isConflict: false };
    await expect(sell(petId, 'unread')).rejects.toMatchObject(failure);
    // A replay too.
    await expect(sell(petId, 'unread')).rejects.toMatchObject(failure);
    expect(await quantityOf(petId)).toBe(4);
  });

  it('are retried after conflicts, and are 503 after the tenth, which changed nothing', async () => {
    onTestFinished(skipBackOff());
    const petId = await put(5);
    tables.endpoint().fail({ ...canceled, times: 4 });
    expect(await sell(petId, 'busy')).toMatchObject({ isReplay: false });
    await tables.endpoint().heal();
    tables.endpoint().fail(canceled);
    const busy = { ...unavailable, isConflict: true };
    await expect(sell(petId, 'busier')).rejects.toMatchObject(busy);
    expect(tables.endpoint().calls.get('TransactWriteItems')).toBe(10);
    expect(await quantityOf(petId)).toBe(4);
  });

  it('of one key at once have one outcome, and so have those of many keys', async () => {
    const petId = await put(5);
    // As clients do after a 503. A busy machine can also have one for want of a response.
    const repeat = (key: string): ReturnType<typeof sell> =>
      sell(petId, key).catch((error) => {
        return error.name === unavailable.name ? repeat(key) : Promise.reject(error);
      });
    const sells = Array.from({ length: 30 }, (_, index) => repeat(`buyer ${index % 10}`));
    const outcomes = await Promise.allSettled(sells);
    const byKey = Map.groupBy(outcomes.keys(), (index) => index % 10);
    const sold = [...byKey.values()].filter((indexes) => {
      const results = indexes.map((index) => outcomes[index]?.status);
      expect(new Set(results).size).toBe(1);
      return results[0] === 'fulfilled';
    });
    expect(sold).toHaveLength(5);
    expect(await quantityOf(petId)).toBe(0);
  });
});

const petId = 7n;
const none = { Code: 'None' };
const failed = { Code: 'ConditionalCheckFailed' };
const conflict = { Code: 'TransactionConflict' };
const exceeded = { Code: 'ProvisionedThroughputExceeded' };
const empty = { ...failed, Item: toInventoryRecord({ petId, quantity: 0, status: 'available' }) };
const sold = { ...failed, Item: toInventoryRecord({ petId, quantity: 9, status: 'sold' }) };
const row = (more: Record<string, AttributeValue> = {}) => ({
  ...failed,
  Item: { d: { S: '7:-1,8:-1' }, v: { B: Buffer.from('other') }, ...more },
});
const rowOf = (code: string) => row({ c: { S: code }, m: { S: 'As it was.' } });

/** A client whose transactions are cancelled with these reasons, one after the other, and then succeed. */
function openCanceled(reasons: readonly (readonly CancellationReason[])[], putError?: Error) {
  const left = [...reasons];
  const sent: string[] = [];
  const send = async (command: object) => {
    const name = command.constructor.name.replace('Command', '');
    sent.push(name);
    if (name === 'PutItem' && putError) throw putError;
    const CancellationReasons = name === 'TransactWriteItems' ? left.shift() : undefined;
    if (!CancellationReasons) return {};
    throw Object.assign(new TransactionCanceledException({ message: '', $metadata }), {
      CancellationReasons,
    });
  };
  const client = { send } as unknown as DynamoDBClient;
  const store = defineInventoryAdjustments(client, 'inventory', 'requests');
  const adjustments = [7n, 8n].map((petId) => ({ petId, delta: -1 }));
  return { adjust: () => store.adjust(adjustments, 'key'), sent };
}

const $metadata = {};
const refused = (code: string, isReplay = false) => ({ name: 'AdjustmentRefused', code, isReplay });
const [transaction, put, read] = ['TransactWriteItems', 'PutItem', 'BatchGetItem'];
type Reasons = CancellationReason[];

describe('a cancelled adjustment', () => {
  it.each<[string, Reasons, code: string]>([
    ['if its row had no reason', [empty, none, none], 'insufficient_stock'],
    ['beside a conflict of another entry', [empty, conflict, none], 'insufficient_stock'],
    ['with the first of several reasons', [empty, failed, none], 'not_found'],
    ['with the first reason in any order', [sold, empty, none], 'not_for_sale'],
  ])('is refused %s', async (_, reasons, code) => {
    const { adjust, sent } = openCanceled([reasons]);
    await expect(adjust()).rejects.toMatchObject(refused(code));
    expect(sent).toEqual([transaction, put]);
  });

  it.each<[string, ...Reasons[]]>([
    ['a conflict of the row, although an entry has too few', [empty, none, conflict]],
    ['a throttled row', [empty, none, { Code: 'ThrottlingError' }]],
    ['conflicts of entries', [conflict, none, none], [none, exceeded, none]],
  ])('is repeated after %s', async (_, ...reasons) => {
    onTestFinished(skipBackOff());
    const { adjust, sent } = openCanceled(reasons);
    expect(await adjust()).toMatchObject({ isReplay: false });
    expect(sent).toEqual([transaction, ...reasons.map(() => transaction), read]);
  });

  const notForSale = { ...refused('not_for_sale', true), message: 'As it was.' };
  const ofOthers = { d: { S: '7:-1' } };
  const refusalOfOthers = { ...failed, Item: { ...rowOf('not_found').Item, ...ofOthers } };
  const invalid = { message: expect.stringContaining('The record of petId 7 is not valid') };
  it.each<[string, object, ...Reasons[]]>([
    ['with the refusal that its row shows', notForSale, [none, none, rowOf('not_for_sale')]],
    [
      'with a refusal that appears during a conflict',
      refused('not_found', true),
      [none, none, conflict],
      [empty, none, rowOf('not_found')],
    ],
    ['with 422 if the row is of other deltas', reused, [empty, none, row(ofOthers)]],
    ['with 422 also if that was refused', reused, [none, none, refusalOfOthers]],
    [
      'as our own failure if it is invalid',
      { name: 'TransactionCanceledException' },
      [{ Code: 'ValidationError' }, none, none],
    ],
    [
      'for an entry that no release wrote',
      invalid,
      [{ ...failed, Item: { p: { N: '7' } } }, none, none],
    ],
  ])('fails %s', async (_, expected, ...reasons) => {
    onTestFinished(skipBackOff());
    const { adjust, sent } = openCanceled(reasons);
    await expect(adjust()).rejects.toMatchObject(expected);
    expect(sent).toEqual(reasons.map(() => transaction));
  });

  it('is the replay that its row shows, whatever its entries', async () => {
    const { adjust, sent } = openCanceled([[empty, conflict, row()]]);
    expect(await adjust()).toMatchObject({ isReplay: true });
    expect(sent).toEqual([transaction, read]);
  });

  it.each([
    ['its row has appeared meanwhile', ConditionalCheckFailedException],
    ['a transaction holds its row', TransactionConflictException],
  ])('reads the row again if %s', async (_, Failure) => {
    onTestFinished(skipBackOff());
    const reasons = [
      [empty, none, none],
      [none, none, row()],
    ];
    const { adjust, sent } = openCanceled(reasons, new Failure({ message: '', $metadata }));
    expect(await adjust()).toMatchObject({ isReplay: true });
    expect(sent).toEqual([transaction, put, transaction, read]);
  });
});
