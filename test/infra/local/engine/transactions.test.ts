import { createRequire } from 'node:module';
import {
  type AttributeValue,
  type CancellationReason,
  GetItemCommand,
  PutItemCommand,
  type TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type TransactWriteItemsInput,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { defineEmulatorClient } from '../../../../infra/cli/tableOption.ts';
import { type Engine, startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { createTables } from '../../../../infra/local/localTables.ts';
import { testEngine } from '../../../support/engines.ts';

let lastId = 0;
const number = (value: number) => ({ N: String(value) });
const inventory = (id: number) => ({ TableName: 'inventory', Key: { p: number(id) } });
const pet = (id: number) => ({ TableName: 'pets', Key: { id: number(id) } });
const stocked = (id: number, quantity: number) => ({ p: number(id), q: number(quantity) });
const put = (Item: Record<string, AttributeValue>, more = {}): TransactWriteItem => ({
  Put: { TableName: 'inventory', Item, ...more },
});
const putPet = (id: number, more = {}): TransactWriteItem => ({
  Put: { TableName: 'pets', Item: { id: number(id), ...more } },
});
const selling = {
  UpdateExpression: 'SET q = q - :one',
  ConditionExpression: 'q >= :one',
  ExpressionAttributeValues: { ':one': number(1) },
};
const sell = (id: number, more = {}): TransactWriteItem => ({
  Update: { ...inventory(id), ...selling, ...more },
});

const Message = 'The conditional request failed';
const failed = { Code: 'ConditionalCheckFailed', Message };

/** Never done, since the other actions of its transactions are invalid. */
const written = put(stocked(3_000_000, 1));

function cancelled(...CancellationReasons: CancellationReason[]) {
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return { name: 'TransactionCanceledException', message, CancellationReasons };
}

type Options = Omit<TransactWriteItemsInput, 'TransactItems'>;

/** The tables of an engine, for the surrounding group's tests. */
function useTables(start: () => Promise<Engine>) {
  let tables: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    tables = await open(await start());
  });
  afterAll(() => tables?.close());
  return () => tables;
}

async function open(engine: Engine) {
  const client = defineEmulatorClient(engine.endpoint, { maxAttempts: 1 });
  await createTables(client);
  async function transact(TransactItems: TransactWriteItem[], options?: Options) {
    const command = new TransactWriteItemsCommand({ TransactItems, ...options });
    const { $metadata, ...response } = await client.send(command);
    return response;
  }
  return {
    client,
    endpoint: engine.endpoint,
    transact,
    /** The error of a transaction that fails. */
    async refusal(items: TransactWriteItem[], options?: Options) {
      const error = await transact(items, options).catch((reason: Error) => reason);
      const { name, message, CancellationReasons } = error as TransactionCanceledException;
      return { name, message, CancellationReasons };
    },
    async read(item: { TableName: string; Key: Record<string, AttributeValue> }) {
      const { Item } = await client.send(new GetItemCommand({ ...item, ConsistentRead: true }));
      return Item;
    },
    /** A new item of the inventory. */
    async stock(quantity: number) {
      lastId += 1;
      const Item = stocked(lastId, quantity);
      await client.send(new PutItemCommand({ TableName: 'inventory', Item }));
      return lastId;
    },
    async close() {
      client.destroy();
      await engine.close();
    },
  };
}

describe(`TransactWriteItems on ${testEngine.name}`, () => {
  const tables = useTables(testEngine.start);

  const token = () => ({ ClientRequestToken: `token-${++lastId}` });

  // DynamoDB itself returns TransactionInProgressException to a repeat of one in progress.
  test('with a client token has its effect once when sent several times, also while in progress', async () => {
    const { transact, read, stock } = tables();
    const [id, options] = [await stock(50), token()];
    const items = [sell(id), putPet(id, { name: { S: 'Rex' } })];
    const responses = await Promise.all(Array.from({ length: 20 }, () => transact(items, options)));
    expect([...responses, await transact(items, options)]).toEqual(Array(21).fill({}));
    expect(await read(inventory(id))).toEqual(stocked(id, 49));
    expect(await transact([sell(id)], token())).toEqual({});
    expect(await read(inventory(id))).toEqual(stocked(id, 48));
  });

  test('with a client token can be sent again after a cancellation', async () => {
    const { transact, refusal, read, stock } = tables();
    const [id, options] = [await stock(0), token()];
    expect(await refusal([sell(id)], options)).toEqual(cancelled(failed));
    await transact([put(stocked(id, 1))]);
    expect(await transact([sell(id)], options)).toEqual({});
    expect(await read(inventory(id))).toEqual(stocked(id, 0));
  });

  test('sells no unit twice next to other transactions and plain updates', async () => {
    const { client, transact, read, stock } = tables();
    const id = await stock(7);
    const sales = await Promise.allSettled(
      Array.from({ length: 20 }, (_, seller) =>
        seller % 2 === 0
          ? transact([sell(id), putPet(id * 1_000 + seller)])
          : client.send(new UpdateItemCommand({ ...inventory(id), ...selling })),
      ),
    );
    expect(sales.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(await read(inventory(id))).toEqual(stocked(id, 0));
  });

  test('does not deadlock with one over the same items in another order', async () => {
    const { transact, read, stock } = tables();
    const [left, right] = [await stock(20), await stock(20)];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        transact(index % 2 === 0 ? [sell(left), sell(right)] : [sell(right), sell(left)]),
      ),
    );
    expect(await read(inventory(left))).toEqual(stocked(left, 0));
    expect(await read(inventory(right))).toEqual(stocked(right, 0));
  }, 10_000);

  test.each<[string, TransactWriteItem, string?]>([
    ['two actions on one item', sell(3_000_000)],
    ['a table that does not exist', sell(1, { TableName: 'nowhere' }), 'ResourceNotFoundException'],
    ['an item without an action', {}],
  ])('is refused as a whole: %s', async (_, item, refused = 'ValidationException') => {
    expect(await tables().refusal([written, item])).toMatchObject({ name: refused });
    expect(await tables().read(inventory(3_000_000))).toBeUndefined();
  });
});

describe('the embedded engine', () => {
  const tables = useTables(startEmbeddedEngine);

  const unparsed = put(stocked(1, 1), { ConditionExpression: 'p ==' });
  const misplaced = sell(1, { Key: { p: { S: 'not a number' } } });

  // Other engines cancel some of them.
  test.each<[string, unknown]>([
    ['a condition that cannot be parsed', { TransactItems: [written, unparsed] }],
    ['a key of another type', { TransactItems: [written, misplaced] }],
    ['no transaction', null],
    ['items that are no list', { TransactItems: {} }],
    ['101 items', { TransactItems: Array.from({ length: 101 }, (_, id) => sell(4_000_000 + id)) }],
    ['another action', { TransactItems: [written, { Delete: inventory(1) }] }],
    ['an attribute without a value', { TransactItems: [put({ p: null } as never)] }],
  ])('refuses %s, and goes on', async (_, transaction) => {
    const response = await fetch(tables().endpoint, {
      method: 'POST',
      headers: { 'X-Amz-Target': 'DynamoDB_20120810.TransactWriteItems' },
      body: JSON.stringify(transaction),
    });
    expect(await response.json()).toMatchObject({
      __type: expect.stringMatching(/#ValidationException$/),
    });
    expect(response.status).toBe(400);
    expect(await tables().read(inventory(3_000_000))).toBeUndefined();
  });

  test('forgets a client token after 10 minutes', async () => {
    const { transact, read, stock } = tables();
    const id = await stock(5);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const left = [];
    for (const milliseconds of [0, 599_000, 1_000]) {
      vi.advanceTimersByTime(milliseconds);
      await transact([sell(id)], { ClientRequestToken: 'forgotten' });
      left.push((await read(inventory(id)))?.q);
    }
    expect(left).toEqual([4, 4, 3].map(number));
  });

  // LevelDB writes a batch completely or not at all, also if the process is killed.
  test('writes a transaction as one batch, and reports a batch that its store refuses', async () => {
    const { transact, refusal, read, stock } = tables();
    const id = await stock(5);
    const dynalite = createRequire(import.meta.url).resolve('dynalite');
    const { prototype } = createRequire(dynalite)('memory-level').MemoryLevel;
    const batch = vi.spyOn(prototype, '_batch').mockRejectedValueOnce(new Error('full'));
    const items = [sell(id), putPet(id)];
    expect(await refusal(items)).toMatchObject({ name: 'InternalServerError' });
    expect([await read(inventory(id)), await read(pet(id))]).toEqual([stocked(id, 5), undefined]);
    await transact(items);
    const done = [stocked(id, 4), { id: number(id) }];
    expect([await read(inventory(id)), await read(pet(id))]).toEqual(done);
    expect(batch).toHaveBeenCalledTimes(2);
    batch.mockRestore();
  });
});
