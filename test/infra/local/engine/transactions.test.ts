import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  paginateScan,
  QueryCommand,
  type TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type TransactWriteItemsInput,
  UpdateItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Engine, startEmbeddedEngine } from '../../../../infra/local/engine/engine.ts';
import { createTables } from '../../../../infra/local/localTables.ts';
import { engines } from '../../../support/engines.ts';

type Options = Omit<TransactWriteItemsInput, 'TransactItems'>;

function defineClient(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return new DynamoDBClient({ endpoint, region: 'local', credentials, maxAttempts: 1 });
}

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
const adding = {
  UpdateExpression: 'ADD #q :one',
  ExpressionAttributeNames: { '#q': 'q' },
  ExpressionAttributeValues: { ':one': number(1) },
};
const add = (id: number): TransactWriteItem => ({ Update: { ...inventory(id), ...adding } });
const isNew = { ConditionExpression: 'attribute_not_exists(p)' };
const exists = { ConditionExpression: 'attribute_exists(p)' };
const allOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' } as const;

const none = { Code: 'None' };
const failed = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };

function cancelled(...CancellationReasons: CancellationReason[]) {
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  return { name: 'TransactionCanceledException', message, CancellationReasons };
}

function define(client: DynamoDBClient) {
  async function transact(TransactItems: TransactWriteItem[], options: Options = {}) {
    const input = { TransactItems, ...options };
    const { $metadata, ...answer } = await client.send(new TransactWriteItemsCommand(input));
    return answer;
  }
  return {
    transact,
    /** The error of a transaction that fails. */
    async refusal(items: TransactWriteItem[], options?: Options) {
      const error = await transact(items, options).then(
        () => new Error('It succeeded.'),
        (reason: TransactionCanceledException) => reason,
      );
      const { name, message } = error;
      const { CancellationReasons } = error as TransactionCanceledException;
      return { name, message, ...(CancellationReasons && { CancellationReasons }) };
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
  };
}

describe.each(engines)('TransactWriteItems on $name', ({ name, start }) => {
  let engine: Engine;
  let client: DynamoDBClient;
  let tables: ReturnType<typeof define>;
  beforeAll(async () => {
    engine = await start();
    client = defineClient(engine.endpoint);
    tables = define(client);
    await createTables(client);
  });
  afterAll(async () => {
    client.destroy();
    await engine.close();
  });
  const isLocal = name === 'DynamoDB Local';
  const isDynoxide = name === 'Dynoxide';

  describe('that succeeds', () => {
    test('does all of its actions, of each kind and in two tables', async () => {
      const { transact, read, stock } = tables;
      const [changed, removed, checked] = [await stock(5), await stock(6), await stock(7)];
      const made = await stock(8);
      const answer = await transact([
        put(stocked(made, 1), exists),
        putPet(made, { name: { S: 'Rex' } }),
        sell(changed),
        { Delete: { ...inventory(removed), ...exists } },
        { ConditionCheck: { ...inventory(checked), ...exists } },
        { ConditionCheck: { ...inventory(made + 1_000_000), ...isNew } },
      ]);
      expect(answer).toEqual({});
      expect(await read(inventory(made))).toEqual(stocked(made, 1));
      expect(await read(pet(made))).toEqual({ id: number(made), name: { S: 'Rex' } });
      expect(await read(inventory(changed))).toEqual(stocked(changed, 4));
      expect(await read(inventory(removed))).toBeUndefined();
      expect(await read(inventory(checked))).toEqual(stocked(checked, 7));
      expect(await read(inventory(made + 1_000_000))).toBeUndefined();
    });

    test('keeps an index up to date, and leaves it alone when it is cancelled', async () => {
      const { transact, refusal } = tables;
      const TableName = 'indexed';
      const key = (AttributeName: string) => [{ AttributeName, KeyType: 'HASH' } as const];
      const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' }) as const;
      const Projection = { ProjectionType: 'ALL' } as const;
      await client.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [text('p'), text('s')],
          KeySchema: key('p'),
          GlobalSecondaryIndexes: [{ IndexName: 'status', KeySchema: key('s'), Projection }],
        }),
      );
      await waitUntilTableExists({ client, maxWaitTime: 5, minDelay: 0.1 }, { TableName });
      const item = (s: string) => ({ p: { S: 'a' }, s: { S: s } });
      async function expectIndexed(expected: Record<string, object[]>): Promise<void> {
        for (const [S, items] of Object.entries(expected)) {
          const query = new QueryCommand({
            TableName,
            IndexName: 'status',
            KeyConditionExpression: 's = :s',
            ExpressionAttributeValues: { ':s': { S } },
          });
          expect((await client.send(query)).Items).toEqual(items);
        }
      }
      await transact([put(item('sold'), { TableName })]);
      const change = put(item('lost'), { TableName });
      expect(await refusal([change, sell(9_000_000)])).toEqual(cancelled(none, failed));
      await expectIndexed({ sold: [item('sold')], lost: [] });
      await transact([change]);
      await expectIndexed({ sold: [], lost: [item('lost')] });
    });

    test('has at most 100 actions', async () => {
      const ids = Array.from({ length: 100 }, (_, index) => 2_000_000 + index);
      const items = ids.map((id) => put(stocked(id, 1)));
      expect(await tables.transact(items)).toEqual({});
      expect(await tables.read(inventory(2_000_099))).toEqual(stocked(2_000_099, 1));
      expect(await tables.refusal([...items, put(stocked(1, 1))])).toEqual({
        name: 'ValidationException',
        message: expect.stringMatching(/Member must have length less than or equal to 100$/),
      });
    });
  });

  describe('that is cancelled', () => {
    test.each<[string, (id: number, more: object) => TransactWriteItem]>([
      ['Put', (id, more) => put(stocked(id, 1), { ...isNew, ...more })],
      ['Update', (id, more) => sell(id, more)],
      ['Delete', (id, more) => ({ Delete: { ...inventory(id), ...isNew, ...more } })],
      [
        'ConditionCheck',
        (id, more) => ({ ConditionCheck: { ...inventory(id), ...isNew, ...more } }),
      ],
    ])(
      'reports a %s whose condition fails, with the item where that is asked for, and does nothing',
      async (kind, toAction) => {
        const { refusal, read, stock } = tables;
        const [empty, other] = [await stock(0), await stock(3)];
        // DynamoDB Local ends this one sentence with a full stop.
        const reason =
          kind === 'ConditionCheck' && isLocal
            ? { ...failed, Message: `${failed.Message}.` }
            : failed;
        const Item = stocked(empty, 0);
        const of = (more: object) => refusal([toAction(empty, more), sell(other)]);
        expect(await of({})).toEqual(cancelled(reason, none));
        expect(await of({ ReturnValuesOnConditionCheckFailure: 'NONE' })).toEqual(
          cancelled(reason, none),
        );
        expect(await of(allOld)).toEqual(cancelled({ ...reason, Item }, none));
        expect(await refusal([sell(other), toAction(empty, allOld)])).toEqual(
          cancelled(none, { ...reason, Item }),
        );
        expect(await read(inventory(empty))).toEqual(stocked(empty, 0));
        expect(await read(inventory(other))).toEqual(stocked(other, 3));
      },
    );

    test('reports every condition that fails, each with its own item', async () => {
      const { refusal, read, stock } = tables;
      const [empty, present, kept] = [await stock(0), await stock(2), await stock(3)];
      expect(
        await refusal([
          sell(empty, allOld),
          sell(kept, allOld),
          put(stocked(present, 9), { ...isNew, ...allOld }),
          sell(empty + 1_000_000, allOld),
        ]),
      ).toEqual(
        cancelled(
          { ...failed, Item: stocked(empty, 0) },
          none,
          { ...failed, Item: stocked(present, 2) },
          // There is no item.
          failed,
        ),
      );
      expect(await read(inventory(kept))).toEqual(stocked(kept, 3));
    });

    // DynamoDB Local refuses these as a whole.
    test.skipIf(isLocal).each<[string, (id: number) => TransactWriteItem, string]>([
      [
        'an update that the item does not allow',
        (id) => sell(id, { UpdateExpression: 'SET q = absent - :one' }),
        'The provided expression refers to an attribute that does not exist in the item',
      ],
      [
        'a key of other attributes',
        () => sell(1, { Key: { id: number(1) } }),
        'The provided key element does not match the schema',
      ],
      [
        'an item without its key',
        () => put({ q: number(1) }),
        'One or more parameter values were invalid: Missing the key p in the item',
      ],
    ])('reports %s', async (_, toAction, Message) => {
      const { refusal, read, stock } = tables;
      const [id, other] = [await stock(1), await stock(1)];
      const reason = { Code: 'ValidationError', Message };
      expect(await refusal([sell(other), toAction(id)])).toEqual(cancelled(none, reason));
      expect(await read(inventory(other))).toEqual(stocked(other, 1));
    });
  });

  describe('with a client token', () => {
    const token = () => ({ ClientRequestToken: `token-${++lastId}` });

    // DynamoDB itself answers TransactionInProgressException to a repeat of one that is under way.
    test('has its effect once, however often it is sent, also while it is under way', async () => {
      const { transact, read, stock } = tables;
      const [id, options] = [await stock(50), token()];
      const items = [sell(id), putPet(id, { name: { S: 'Rex' } })];
      const answers = await Promise.all(Array.from({ length: 20 }, () => transact(items, options)));
      expect([...answers, await transact(items, options)]).toEqual(Array(21).fill({}));
      expect(await read(inventory(id))).toEqual(stocked(id, 49));
      expect(await transact([sell(id)], token())).toEqual({});
      expect(await read(inventory(id))).toEqual(stocked(id, 48));
    });

    test('is refused with other parameters, whose names may stand in another order', async () => {
      const { transact, refusal, read, stock } = tables;
      const [id, options] = [await stock(5), token()];
      await transact([put({ p: number(id), q: number(4) })], options);
      expect(await transact([put({ q: number(4), p: number(id) })], options)).toEqual({});
      expect(await refusal([put(stocked(id, 3))], options)).toEqual({
        name: 'IdempotentParameterMismatchException',
        // Each engine has another, and one has none.
        message: expect.any(String),
      });
      expect(await read(inventory(id))).toEqual(stocked(id, 4));
    });

    test('can be sent again after it was cancelled', async () => {
      const { transact, refusal, read, stock } = tables;
      const [id, options] = [await stock(0), token()];
      expect(await refusal([sell(id)], options)).toEqual(cancelled(failed));
      await transact([put(stocked(id, 1))]);
      expect(await transact([sell(id)], options)).toEqual({});
      expect(await read(inventory(id))).toEqual(stocked(id, 0));
    });
  });

  describe('beside others at the same time', () => {
    test('sells no piece twice, and none that a plain update sells', async () => {
      const { transact, read, stock } = tables;
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
      for (const [seller, sale] of sales.entries()) {
        const refused = sale.status === 'rejected' ? sale.reason : undefined;
        if (seller % 2 === 0) {
          if (refused) expect(refused).toMatchObject(cancelled(failed, none));
          expect((await read(pet(id * 1_000 + seller))) === undefined).toBe(refused !== undefined);
        } else if (refused) expect(refused).toBeInstanceOf(ConditionalCheckFailedException);
      }
    });

    test('does not wait for ever for one over the same items in another order', async () => {
      const { transact, read, stock } = tables;
      const [left, right] = [await stock(0), await stock(0)];
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          transact(index % 2 === 0 ? [add(left), add(right)] : [add(right), add(left)]),
        ),
      );
      expect(await read(inventory(left))).toEqual(stocked(left, 20));
      expect(await read(inventory(right))).toEqual(stocked(right, 20));
    }, 10_000);
  });

  describe('that is not valid', () => {
    const [written, another] = [put(stocked(3_000_000, 1)), 3_000_001];
    test.each<[string, TransactWriteItem[], RegExp, string?]>([
      ['no action', [], /Member must have length greater than or equal to 1$/],
      [
        'two actions on one item',
        [written, sell(3_000_000)],
        /^Transaction request cannot include multiple operations on one item$/,
      ],
      [
        'a table that does not exist',
        [written, { Delete: { ...inventory(1), TableName: 'nowhere' } }],
        /./,
        'ResourceNotFoundException',
      ],
      ['an action of no kind', [written, {}], /./],
      [
        'a ConditionCheck without a condition',
        [written, { ConditionCheck: { ...inventory(1), ConditionExpression: undefined } }],
        /./,
      ],
      // Dynoxide takes the first of two kinds, and cancels for an expression where the others refuse.
      ...(isDynoxide
        ? []
        : ([
            [
              'two kinds of one action',
              [written, { ...putPet(1), Delete: inventory(another) }],
              /^TransactItems can only contain one of Check, Put, Update or Delete$/,
            ],
            [
              'a condition that cannot be parsed',
              [written, put(stocked(another, 1), { ConditionExpression: 'p ==' })],
              /^Invalid ConditionExpression: Syntax error; /,
            ],
            [
              'a value that no expression has',
              [
                written,
                put(stocked(another, 1), {
                  ...isNew,
                  ExpressionAttributeValues: { ':x': number(1) },
                }),
              ],
              /^Value provided in ExpressionAttributeValues unused in expressions: keys: {:x}$/,
            ],
          ] as [string, TransactWriteItem[], RegExp][])),
    ])('is refused as a whole: %s', async (_, items, message, refused = 'ValidationException') => {
      expect(await tables.refusal(items)).toEqual({
        name: refused,
        message: expect.stringMatching(message),
      });
      expect(await tables.read(inventory(3_000_000))).toBeUndefined();
    });
  });

  test('takes two write units for each KB, and as a repeat two read units for each 4 KB', async () => {
    const { transact, stock } = tables;
    /** DynamoDB Local does not say which units they are. */
    const units = (kind: 'Write' | 'Read', TableName: string, CapacityUnits: number) => ({
      TableName,
      CapacityUnits,
      ...(!isLocal && { [`${kind}CapacityUnits`]: CapacityUnits }),
    });
    const [id, checked, removed] = [await stock(5), await stock(5), await stock(5)];
    const items: TransactWriteItem[] = [
      sell(id),
      putPet(id, { name: { S: 'x'.repeat(4_500) } }),
      // DynamoDB Local counts the last action of each table alone.
      ...(isLocal
        ? []
        : [
            { ConditionCheck: { ...inventory(checked), ...exists } },
            { Delete: inventory(removed) },
            { Delete: inventory(removed + 1_000_000) },
          ]),
    ];
    const options = { ReturnConsumedCapacity: 'TOTAL', ClientRequestToken: `units-${id}` } as const;
    const all = isLocal ? 2 : 8;
    expect(await transact(items, options)).toEqual({
      ConsumedCapacity: [units('Write', 'inventory', all), units('Write', 'pets', 10)],
    });
    expect(await transact(items, options)).toEqual({
      ConsumedCapacity: [units('Read', 'inventory', all), units('Read', 'pets', 4)],
    });
  });
});

describe('the embedded engine', () => {
  test('forgets a client token after 10 minutes', async () => {
    const engine = await startEmbeddedEngine();
    const client = defineClient(engine.endpoint);
    await createTables(client);
    const { transact, read, stock } = define(client);
    const id = await stock(5);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      for (const [milliseconds, left] of [
        [0, 4],
        [599_000, 4],
        [1_000, 3],
      ] as const) {
        vi.advanceTimersByTime(milliseconds);
        await transact([sell(id)], { ClientRequestToken: 'forgotten' });
        expect(await read(inventory(id))).toEqual(stocked(id, left));
      }
    } finally {
      vi.useRealTimers();
    }
    client.destroy();
    await engine.close();
  });

  test('has each transaction whole or not at all after it was killed', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'petstore-transactions-'));
    const script = join(import.meta.dirname, 'transactingEngine.ts');
    const child = spawn(process.execPath, [script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [printed, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(signal).toBe('SIGKILL');
    const engine = await startEmbeddedEngine({ dir });
    const client = defineClient(engine.endpoint);
    const list = async (TableName: string, name: string) => {
      const pages = await Array.fromAsync(paginateScan({ client }, { TableName }));
      return pages.flatMap(({ Items = [] }) => Items.map((item) => item[name]?.N)).sort();
    };
    const written = await list('inventory', 'p');
    expect(await list('pets', 'id')).toEqual(written);
    const acknowledged = printed.split('\n').slice(0, -1);
    expect(acknowledged.length).toBeGreaterThanOrEqual(5);
    expect(acknowledged.filter((id) => !written.includes(id))).toEqual([]);
    client.destroy();
    await engine.close();
    await rm(dir, { recursive: true });
  });
});
