import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

// dynalite's own server exposes neither its store nor a transaction, so the engine calls the parts behind it. They have
// no types: these are for what the engine uses.

/** Attributes by name, in DynamoDB's JSON. */
export type Item = Readonly<Record<string, object>>;

/** A description, as DescribeTable returns it. */
type Table = Readonly<Record<string, unknown>>;

/** The response to a request that fails. */
export interface RequestError extends Error {
  readonly statusCode: number;
  readonly body: { readonly __type: string };
}

type Done<Result = unknown> = (error: Error | null, result?: Result) => void;

export interface Write {
  readonly type: 'put';
  readonly key: string;
  readonly value: Item;
}

/** The items of one table. */
interface ItemDb {
  /** Calls `run` with the key's lock held. Calling what `release` returns gives it up. */
  lock(key: string, run: (release: (done?: Done) => () => void) => void): void;
  get(key: string, done: Done<Item>): void;
  put(key: string, item: Item, done: Done): void;
}

type Iterate = (options: object) => { close(): Promise<void>; return?(): Promise<void> };

export interface Store {
  /** Every table, each with its own prefix. A batch is written in full or not at all. */
  readonly db: {
    open(): Promise<void>;
    batch(writes: readonly Write[]): Promise<void>;
    close(): Promise<void>;
    keys: Iterate;
    values: Iterate;
  };
  getTable(name: string, isToBeActive: boolean, done: Done<Table>): void;
  getItemDb(table: string): ItemDb;
}

interface Action {
  /** The capacity is in the result if the parameters ask for it. */
  act(
    store: Store,
    parameters: object,
  ): Promise<{ readonly ConsumedCapacity: { readonly CapacityUnits: number } } | undefined>;
  readonly types: object;
  /**
   * Checks the parameters. It also parses the expressions and stores them in the parameters.
   * @returns what is wrong
   */
  custom(parameters: unknown, store: Store): string | undefined;
}

/** dynalite's name for an item in the store, where each table has its own prefix. */
export function toItemId(table: string, key: string): string {
  return `item-${table}~${key}`;
}

/** The result of a call with a callback. `promisify` takes longer than most calls. */
export function toPromise<Result>(call: (done: Done<Result>) => void): Promise<Result | undefined> {
  return new Promise((resolve, reject) => {
    call((error, result) => (error ? reject(error) : resolve(result)));
  });
}

/** An active table. */
export async function readTable({ getTable }: Store, name: string): Promise<Table> {
  return (await toPromise<Table>((done) => getTable(name, true, done))) ?? {};
}

/** An error of the client's, with the members of its body. */
export function requestError(__type: string, members = {}): RequestError {
  return Object.assign(new Error(__type), { statusCode: 400, body: { __type, ...members } });
}

const require = createRequire(import.meta.url);

export const db: {
  create(options: object): Store;
  createKey(item: Item, table: Table): string;
  validateKey(key: Item, table: Table): RequestError | null | undefined;
  validateItem(item: Item, table: Table): RequestError | null | undefined;
  validationError(message: string): RequestError;
} = require('dynalite/db');

export const validations: {
  /** Returns the parameters that the types have. @throws {RequestError} */
  checkTypes(parameters: unknown, types: object): object;
  /** @throws {RequestError} */
  checkValidations(parameters: object, types: object, custom: Action['custom'], store: Store): void;
} = require('dynalite/validations');

const files = readdirSync(join(dirname(require.resolve('dynalite')), 'actions'));

/** By the names of DynamoDB's operations. */
export const actions: ReadonlyMap<string, Action> = new Map(
  files.map((file) => {
    const name = `${file[0]?.toUpperCase()}${file.slice(1, -'.js'.length)}`;
    const run = require(`dynalite/actions/${file}`);
    const act: Action['act'] = (store, parameters) =>
      toPromise((done) => run(store, parameters, done));
    return [name, { act, ...require(`dynalite/validations/${file}`) }];
  }),
);
