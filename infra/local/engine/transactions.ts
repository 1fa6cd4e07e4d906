import { createHash, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import type { ActionParameters } from 'dynalite/actions/deleteItem.js';
import deleteItem from 'dynalite/actions/deleteItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import type { ItemDb, RequestError, Store, Write } from 'dynalite/db/index.js';
import db from 'dynalite/db/index.js';
import deleteValidation from 'dynalite/validations/deleteItem.js';
import validations from 'dynalite/validations/index.js';
import putValidation from 'dynalite/validations/putItem.js';
import updateValidation from 'dynalite/validations/updateItem.js';

/** Takes the parameters of a TransactWriteItems, and throws a RequestError. */
export type TransactWrite = (parameters: unknown) => Promise<object>;

interface Transaction {
  /** Each has the parameters of one action under the name of its kind. */
  readonly TransactItems: readonly Readonly<Record<string, Parameters>>[];
  readonly ClientRequestToken?: string;
  readonly ReturnConsumedCapacity?: string;
}

interface Parameters extends ActionParameters {
  readonly ReturnValuesOnConditionCheckFailure?: string;
}

type Action = Awaited<ReturnType<typeof toAction>>;
type Outcome = Awaited<ReturnType<typeof attempt>>;
type Used = Pick<Outcome, 'TableName' | 'units'>;
type Kind = typeof deleteValidation & { readonly act: typeof deleteItem };

/** Runs as a deletion, whose writes are dropped. */
const conditionCheck: Kind = {
  ...deleteValidation,
  act: deleteItem,
  types: { ...deleteValidation.types, ConditionExpression: { type: 'String', notNull: true } },
};

const kinds: Readonly<Record<string, Kind>> = {
  Put: { act: putItem, ...putValidation },
  Update: { act: updateItem, ...updateValidation },
  Delete: { act: deleteItem, ...deleteValidation },
  ConditionCheck: conditionCheck,
};

const returnedOnFailure = { type: 'String', enum: ['ALL_OLD', 'NONE'] };
const actionTypes = Object.entries(kinds).map(([name, { types }]) => {
  const children = { ...types, ReturnValuesOnConditionCheckFailure: returnedOnFailure };
  return [name, { type: `FieldStruct<${name}>`, children }];
});
const transactionTypes = {
  ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
  ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
  TransactItems: {
    type: 'ParameterizedList',
    notNull: true,
    lengthGreaterThanOrEqual: 1,
    lengthLessThanOrEqual: 100,
    children: {
      type: 'ValueStruct<TransactWriteItem>',
      children: Object.fromEntries(actionTypes),
    },
  },
};

/** How long a client token is remembered after its transaction. */
const TOKEN_MILLISECONDS = 10 * 60 * 1000;

/**
 * Adds TransactWriteItems to a store of dynalite, which does not have it:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
 * Two things differ from DynamoDB. A repeat by client token waits for a first call that is under way, where DynamoDB
 * answers TransactionInProgressException. Client tokens are forgotten when the process ends.
 */
export function defineTransactWrite(store: Store): TransactWrite {
  const calls = new Map<string, { readonly hash: string; readonly used: Promise<Used[]> }>();

  function begin(token: string, hash: string, transaction: Transaction): Promise<Used[]> {
    const used = write(store, transaction);
    const forget = () => calls.delete(token);
    used.then(() => setTimeout(forget, TOKEN_MILLISECONDS).unref(), forget);
    calls.set(token, { hash, used });
    return used;
  }

  return async function transactWrite(parameters) {
    const transaction = validations.checkTypes(parameters, transactionTypes) as Transaction;
    const hash = toHash(transaction.TransactItems);
    validations.checkValidations(transaction, transactionTypes, checkActions, store);
    const { ClientRequestToken: token = randomUUID(), ReturnConsumedCapacity } = transaction;
    const first = calls.get(token);
    if (first && first.hash !== hash) {
      const message = 'The client token was used before, with other parameters.';
      throw requestError('IdempotentParameterMismatchException', { message });
    }
    const used = await (first?.used ?? begin(token, hash, transaction));
    if ((ReturnConsumedCapacity ?? 'NONE') === 'NONE') return {};
    return { ConsumedCapacity: toConsumedCapacity(used, first !== undefined) };
  };
}

/** The answer to an error; an unknown one is an InternalServerError. */
export function toRequestError(error: unknown): RequestError {
  if (isRequestError(error)) return error;
  return requestError('InternalServerError', { message: String(error) }, 500);
}

/** Objects with the same properties in another order have the same hash. */
function toHash(items: Transaction['TransactItems']): string {
  const sortNames = (_name: string, value: unknown) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted())
      : value;
  return createHash('sha256')
    .update(JSON.stringify([items], sortNames))
    .digest('base64');
}

/** Runs dynalite's own validation of each action, which also parses its expressions. */
function checkActions({ TransactItems }: Transaction, store: Store): string | undefined {
  for (const item of TransactItems) {
    const [[name, parameters] = [], ...others] = Object.entries(item);
    if (name === undefined || others.length > 0) {
      return 'TransactItems can only contain one of Check, Put, Update or Delete';
    }
    const problem = kinds[name]?.custom(parameters, store);
    if (problem) return problem;
  }
  return undefined;
}

async function write(store: Store, { TransactItems }: Transaction): Promise<Used[]> {
  const actions = await Promise.all(TransactItems.map((item) => toAction(store, item)));
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

async function toAction(store: Store, item: Transaction['TransactItems'][number]) {
  const [[name, parameters]] = Object.entries(item) as [[string, Parameters]];
  const { TableName, Item, Key = {} } = parameters;
  const table = (await promisify(store.getTable)(TableName, true)) ?? {};
  const invalid = Item ? db.validateItem(Item, table) : db.validateKey(Key, table);
  // dynalite refuses an action without a valid key before it uses the key.
  const key = invalid ? '' : db.createKey(Item ?? Key, table);
  const id = `${TableName}/${key}`;
  return {
    kind: kinds[name] ?? conditionCheck,
    parameters,
    items: store.getItemDb(TableName),
    key,
    id,
  };
}

/** Takes the same locks as dynalite's own writes. They are taken in one order, so that no two transactions deadlock. */
async function lock(actions: readonly Action[]): Promise<() => void> {
  const releases: (() => void)[] = [];
  for (const { items, key } of actions.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    releases.push(await new Promise((locked) => items.lock(key, (free) => locked(free()))));
  }
  return () => {
    for (const release of releases) release();
  };
}

/** Runs dynalite's action on a store that collects its writes. The caller holds the lock of the item. */
async function attempt(store: Store, { kind, parameters, items, key }: Action) {
  const { TableName, ReturnValuesOnConditionCheckFailure } = parameters;
  const writes: Write[] = [];
  // dynalite keeps each table and index under a prefix of its own.
  const collect = (all: ItemDb, prefix: string): ItemDb => ({
    ...all,
    lock: (_key, run) => run((done) => done as () => void),
    put: (name, value, done) => done(null, writes.push({ type: 'put', key: prefix + name, value })),
    del: (name, done) => done(null, writes.push({ type: 'del', key: prefix + name })),
  });
  const collecting: Store = {
    ...store,
    getItemDb: (table) => collect(store.getItemDb(table), `item-${table}~`),
    getIndexDb: (type, ...names) =>
      collect(
        store.getIndexDb(type, ...names),
        `index-${[type.toLowerCase(), ...names].join('~')}~`,
      ),
  };
  try {
    const given = { ...parameters, ReturnConsumedCapacity: 'TOTAL' };
    const result = await promisify(kind.act)(collecting, given);
    const units = result?.ConsumedCapacity?.CapacityUnits ?? 0;
    return {
      reason: { Code: 'None' },
      writes: kind === conditionCheck ? [] : writes,
      TableName,
      units,
    };
  } catch (error) {
    if (!isRequestError(error)) throw error;
    const isCondition = error.body.__type.endsWith('#ConditionalCheckFailedException');
    const isShown = isCondition && ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
    const Item = isShown ? await promisify(items.get)(key) : undefined;
    const Code = isCondition ? 'ConditionalCheckFailed' : 'ValidationError';
    return { reason: { Code, Message: error.message, Item }, writes, TableName, units: 0 };
  }
}

/** A transaction takes twice the units of its actions. A repeat is a read, whose unit is 4 KB in place of 1 KB. */
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
  return requestError('TransactionCanceledException', { CancellationReasons, Message });
}

function isRequestError(error: unknown): error is RequestError {
  return error instanceof Error && 'statusCode' in error && 'body' in error;
}

function requestError(type: string, fields: object, statusCode = 400): RequestError {
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${type}`, ...fields };
  return Object.assign(new Error(type), { statusCode, body });
}
