import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import deleteItem from 'dynalite/actions/deleteItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import type { Item, RequestError, Store, Write } from 'dynalite/db/index.js';
import db from 'dynalite/db/index.js';
import deleteValidation from 'dynalite/validations/deleteItem.js';
import validations from 'dynalite/validations/index.js';
import putValidation from 'dynalite/validations/putItem.js';
import updateValidation from 'dynalite/validations/updateItem.js';

interface Transaction {
  readonly TransactItems: readonly TransactItem[];
  readonly ClientRequestToken?: string;
  readonly ReturnConsumedCapacity?: string;
}

/** The parameters of one action, under the name of its kind. */
type TransactItem = Readonly<Record<string, Parameters>>;

interface Parameters {
  readonly TableName: string;
  /** Only for a Put. */
  readonly Item?: Item;
  /** For all others. */
  readonly Key?: Item;
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

type Action = Awaited<ReturnType<typeof prepare>>;
type Outcome = Awaited<ReturnType<typeof attempt>>;
type Used = Pick<Outcome, 'TableName' | 'units'>;

type Kind = typeof putValidation & { readonly act: typeof putItem };

/** Runs as a deletion without its writes. */
const conditionCheck: Kind = { act: deleteItem, ...deleteValidation };

const kinds = {
  Put: { act: putItem, ...putValidation },
  Update: { act: updateItem, ...updateValidation },
  Delete: { act: deleteItem, ...deleteValidation },
  ConditionCheck: conditionCheck,
} satisfies Record<string, Kind>;

/** What the API allows, in the form that dynalite checks. */
const types = {
  TransactItems: {
    type: 'List',
    notNull: true,
    lengthGreaterThanOrEqual: 1,
    lengthLessThanOrEqual: 100,
    children: {
      type: 'ValueStruct<TransactWriteItem>',
      children: {
        Put: toActionType(kinds.Put),
        Update: toActionType(kinds.Update, 'UpdateExpression'),
        Delete: toActionType(kinds.Delete),
        ConditionCheck: toActionType(kinds.ConditionCheck, 'ConditionExpression'),
      },
    },
  },
  ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
  ReturnConsumedCapacity: putValidation.types.ReturnConsumedCapacity,
};

function toActionType({ types }: Kind, required?: string) {
  const ReturnValuesOnConditionCheckFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
  const children = { ...types, ReturnValuesOnConditionCheckFailure };
  return {
    type: 'FieldStruct',
    children: required ? { ...children, [required]: { type: 'String', notNull: true } } : children,
  };
}

/** How long a client token is remembered after its transaction. */
const TOKEN_MILLISECONDS = 10 * 60 * 1000;

/**
 * Adds the missing TransactWriteItems to a store of dynalite, on tables without an index:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * A repeat with the same client token waits for the first call, where DynamoDB responds with
 * TransactionInProgressException. Its parameters are not compared. Tokens are forgotten when the process ends.
 * @returns a function that throws a RequestError
 */
export function defineTransactWrite(store: Store): (given: unknown) => Promise<object> {
  const calls = new Map<string, Promise<Used[]>>();

  function begin(token: string, transaction: Transaction): Promise<Used[]> {
    const used = write(store, transaction);
    const forget = () => calls.delete(token);
    used.then(() => setTimeout(forget, TOKEN_MILLISECONDS).unref(), forget);
    calls.set(token, used);
    return used;
  }

  return async function transactWrite(given) {
    const transaction = parseTransaction(store, given);
    const { ClientRequestToken: token = randomUUID(), ReturnConsumedCapacity } = transaction;
    const first = calls.get(token);
    const used = await (first ?? begin(token, transaction));
    if ((ReturnConsumedCapacity ?? 'NONE') === 'NONE') return {};
    return { ConsumedCapacity: toConsumedCapacity(used, first !== undefined) };
  };
}

async function write(store: Store, { TransactItems }: Transaction): Promise<Used[]> {
  const actions = await Promise.all(TransactItems.map((item) => prepare(store, item)));
  if (new Set(actions.map(({ id }) => id)).size < actions.length) {
    throw db.validationError('Transaction request cannot include multiple operations on one item');
  }
  const release = await lock(actions);
  try {
    const outcomes = await Promise.all(actions.map((action) => attempt(store, action)));
    const reasons = outcomes.map(({ reason }) => reason);
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancellation(reasons);
    await store.db.batch(outcomes.flatMap(({ writes }) => writes));
    return outcomes.map(({ TableName, units }) => ({ TableName, units }));
  } finally {
    release();
  }
}

/** @throws {RequestError} for what DynamoDB refuses before it reads a table */
function parseTransaction(store: Store, given: unknown): Transaction {
  // A body of `null` is an object too.
  const transaction = validations.checkTypes(Object(given), types);
  validations.checkValidations(transaction, types, findProblem, store);
  return transaction as Transaction;
}

/** dynalite's own validation, which also parses the expressions, for each action. */
function findProblem(transaction: unknown, store: Store): string | undefined {
  for (const item of (transaction as Transaction).TransactItems) {
    const [action, ...others] = Object.entries(item ?? {});
    if (!action) {
      return 'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request';
    }
    if (others.length > 0) {
      return 'TransactItems can only contain one of Check, Put, Update or Delete';
    }
    const [name, parameters] = action;
    const problem = kinds[name as keyof typeof kinds].custom(parameters, store);
    if (problem) return problem;
  }
  return undefined;
}

async function prepare(store: Store, item: TransactItem) {
  const [[name, parameters]] = Object.entries(item) as [[keyof typeof kinds, Parameters]];
  const kind: Kind = kinds[name];
  const { TableName, Item, Key = {} } = parameters;
  const table = (await promisify(store.getTable)(TableName, true)) ?? {};
  const invalid = Item ? db.validateItem(Item, table) : db.validateKey(Key, table);
  if (invalid) throw invalid;
  const key = db.createKey(Item ?? Key, table);
  // dynalite's name for it in the store, where each table has its own prefix.
  const id = `item-${TableName}~${key}`;
  return { kind, parameters, items: store.getItemDb(TableName), key, id };
}

/** Takes the same locks as dynalite's own writes, always in the same order, so that transactions cannot deadlock. */
async function lock(actions: readonly Action[]): Promise<() => void> {
  const releases: (() => void)[] = [];
  for (const { items, key } of actions.toSorted((a, b) => a.id.localeCompare(b.id))) {
    releases.push(await new Promise((locked) => items.lock(key, (free) => locked(free()))));
  }
  return () => {
    for (const release of releases) release();
  };
}

/** Runs dynalite's action on a store that collects its writes. The caller holds the lock of the item. */
async function attempt(store: Store, { kind, parameters, items, key, id }: Action) {
  const { TableName, ReturnValuesOnConditionCheckFailure } = parameters;
  const writes: Write[] = [];
  const collecting: Store = {
    ...store,
    getItemDb: () => ({
      ...items,
      lock: (_key, run) => run((done) => done as () => void),
      put: (_key, value, done) => done(null, writes.push({ type: 'put', key: id, value })),
      del: (_key, done) => done(null, writes.push({ type: 'del', key: id })),
    }),
  };
  try {
    const given = { ...parameters, ReturnConsumedCapacity: 'TOTAL' };
    const result = await promisify(kind.act)(collecting, given);
    const units = result?.ConsumedCapacity.CapacityUnits ?? 0;
    const kept = kind === conditionCheck ? [] : writes;
    return { reason: { Code: 'None' }, writes: kept, TableName, units };
  } catch (error) {
    const { body, message } = error as RequestError;
    if (!body?.__type.endsWith('#ConditionalCheckFailedException')) throw error;
    const isShown = ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    const Item = isShown ? await promisify(items.get)(key) : undefined;
    const reason = { Code: 'ConditionalCheckFailed', Message: message, Item };
    return { reason, writes, TableName, units: 0 };
  }
}

/** A transaction uses twice the units of its actions. A repeat is a read, with units of 4 KB instead of 1 KB. */
function toConsumedCapacity(used: readonly Used[], isRepeat: boolean): object[] {
  return [...Map.groupBy(used, ({ TableName }) => TableName)].map(([TableName, group]) => {
    const units = group.map((each) => 2 * (isRepeat ? Math.ceil(each.units / 4) : each.units));
    const CapacityUnits = units.reduce((sum, each) => sum + each, 0);
    const kind = isRepeat ? 'ReadCapacityUnits' : 'WriteCapacityUnits';
    return { TableName, CapacityUnits, [kind]: CapacityUnits };
  });
}

function cancellation(CancellationReasons: readonly Outcome['reason'][]): RequestError {
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ');
  const Message = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  const __type = 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException';
  const body = { __type, CancellationReasons, Message };
  return Object.assign(new Error(Message), { statusCode: 400, body });
}
