import { randomUUID } from 'node:crypto';
import type {
  Put,
  TransactWriteItem,
  TransactWriteItemsInput,
  Update,
} from '@aws-sdk/client-dynamodb';
import {
  actions,
  db,
  type Item,
  type RequestError,
  readTable,
  requestError,
  type Store,
  toItemId,
  toPromise,
  type Write,
} from './dynalite.ts';

type Prepared = Awaited<ReturnType<typeof prepare>>;
type Outcome = Awaited<ReturnType<typeof attempt>>;
type Used = Awaited<ReturnType<typeof write>>;

/** The actions that the service's transactions have. */
const kinds = new Map([
  ['Put', actions.get('PutItem')],
  ['Update', actions.get('UpdateItem')],
]);

/** How long a client token is remembered after its transaction. */
const TOKEN_MILLISECONDS = 10 * 60 * 1000;

/**
 * Adds TransactWriteItems to a store of dynalite, for the transactions of the service on tables without an index:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * A repeat with the same client token waits for the first call, where DynamoDB responds with
 * TransactionInProgressException. Its parameters are not compared, and it takes as many units. Tokens are forgotten when
 * the process ends.
 * @returns a function that throws a RequestError
 */
export function defineTransactWrite(store: Store) {
  const calls = new Map<string, Promise<Used>>();

  function begin(token: string, transaction: TransactWriteItemsInput): Promise<Used> {
    const used = write(store, transaction);
    const forget = () => calls.delete(token);
    used.then(() => setTimeout(forget, TOKEN_MILLISECONDS).unref(), forget);
    calls.set(token, used);
    return used;
  }

  return async function transactWrite(transaction: TransactWriteItemsInput): Promise<object> {
    const { ClientRequestToken: token = randomUUID(), ReturnConsumedCapacity } = transaction;
    const used = await (calls.get(token) ?? begin(token, transaction));
    return ReturnConsumedCapacity === 'TOTAL' ? { ConsumedCapacity: used } : {};
  };
}

async function write(store: Store, { TransactItems }: TransactWriteItemsInput) {
  const items = Array.isArray(TransactItems) ? TransactItems : [];
  if (items.length < 1 || items.length > 100) {
    throw db.validationError('A transaction has a list of 1 to 100 items as its TransactItems');
  }
  const prepared = await Promise.all(Array.from(items, (item) => prepare(store, item)));
  if (new Set(prepared.map(({ id }) => id)).size < prepared.length) {
    throw db.validationError('Transaction request cannot include multiple operations on one item');
  }
  const release = await lock(prepared);
  try {
    const outcomes = await Promise.all(prepared.map((each) => attempt(store, each)));
    const reasons = outcomes.map(({ reason }) => reason);
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancellation(reasons);
    await store.db.batch(outcomes.flatMap(({ writes }) => writes));
    // A transaction uses twice the units of its actions.
    return outcomes.map(({ TableName, units }) => ({ TableName, CapacityUnits: 2 * units }));
  } finally {
    release();
  }
}

async function prepare(store: Store, item: TransactWriteItem = {}) {
  const [[name, parameters] = ['']]: [string, Partial<Put & Update>?][] = Object.entries(item);
  const kind = kinds.get(name);
  if (!kind || !parameters) throw db.validationError('A transaction here has only Put and Update');
  // Also parses the expressions, and stores them in the parameters.
  const problem = kind.custom(parameters, store);
  if (problem) throw db.validationError(problem);
  const { TableName = '', Item, Key = {} } = parameters;
  const table = await readTable(store, TableName);
  const invalid = Item ? db.validateItem(Item, table) : db.validateKey(Key, table);
  if (invalid) throw invalid;
  const key = db.createKey(Item ?? Key, table);
  const id = toItemId(TableName, key);
  return { kind, parameters, items: store.getItemDb(TableName), key, id };
}

/** Takes the same locks as dynalite's own writes, always in the same order, so that transactions cannot deadlock. */
async function lock(prepared: readonly Prepared[]): Promise<() => void> {
  const releases: (() => void)[] = [];
  for (const { items, key } of prepared.toSorted((a, b) => a.id.localeCompare(b.id))) {
    releases.push(await new Promise((locked) => items.lock(key, (free) => locked(free()))));
  }
  return () => {
    for (const release of releases) release();
  };
}

/** Runs dynalite's action on a store that collects its writes. The caller holds the lock of the item. */
async function attempt(store: Store, { kind, parameters, items, key, id }: Prepared) {
  const { TableName, ReturnValuesOnConditionCheckFailure } = parameters;
  const writes: Write[] = [];
  const collecting: Store = {
    ...store,
    getItemDb: () => ({
      ...items,
      lock: (_key, run) => run((done) => done as () => void),
      put: (_key, value, done) => done(null, writes.push({ type: 'put', key: id, value })),
    }),
  };
  try {
    const given = { ...parameters, ReturnConsumedCapacity: 'TOTAL' };
    const result = await kind.act(collecting, given);
    const units = result?.ConsumedCapacity.CapacityUnits ?? 0;
    return { reason: { Code: 'None' }, writes, TableName, units };
  } catch (error) {
    const { body, message } = error as RequestError;
    if (!body?.__type.endsWith('#ConditionalCheckFailedException')) throw error;
    const isShown = ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    const Item = isShown ? await toPromise<Item>((done) => items.get(key, done)) : undefined;
    const reason = { Code: 'ConditionalCheckFailed', Message: message, Item };
    return { reason, writes, TableName, units: 0 };
  }
}

function cancellation(CancellationReasons: readonly Outcome['reason'][]): RequestError {
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  const type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
  return requestError(type, { CancellationReasons, Message });
}
