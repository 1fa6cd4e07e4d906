declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(options: object): Server;
}

declare module 'dynalite/db/index.js' {
  /** Attributes by name, in DynamoDB's JSON. */
  export type Item = Readonly<Record<string, object>>;
  /** A description, as DescribeTable answers it. */
  export type Table = Readonly<Record<string, unknown>>;

  /** The answer to a request that fails. */
  export interface RequestError extends Error {
    readonly statusCode: number;
    readonly body: { readonly __type: string };
  }

  export type Done<Result = unknown> = (error: Error | null, result?: Result) => void;

  export type Write =
    | { readonly type: 'put'; readonly key: string; readonly value: Item }
    | { readonly type: 'del'; readonly key: string };

  /** The items of one table. */
  export interface ItemDb {
    /** Calls `run` once nobody else has the key; what `release` returns is called to let go of it. */
    lock(key: string, run: (release: (done?: Done) => () => void) => void): void;
    get(key: string, done: Done<Item>): void;
    put(key: string, item: Item, done: Done): void;
    del(key: string, done: Done): void;
  }

  export interface Store {
    /** Every table, each with a prefix of its own. A batch is written whole or not at all. */
    readonly db: { batch(writes: readonly Write[]): Promise<void> };
    getTable(name: string, isToBeActive: boolean, done: Done<Table>): void;
    getItemDb(table: string): ItemDb;
  }

  const db: {
    create(options: object): Store;
    createKey(item: Item, table: Table): string;
    validateKey(key: Item, table: Table): RequestError | null | undefined;
    validateItem(item: Item, table: Table): RequestError | null | undefined;
    validationError(message: string): RequestError;
  };
  export default db;
}

declare module 'dynalite/actions/*' {
  import type { Done, Store } from 'dynalite/db/index.js';

  /** Where the capacity is asked for. */
  type Result = { readonly ConsumedCapacity: { readonly CapacityUnits: number } };

  export default function act(store: Store, parameters: object, done: Done<Result>): void;
}

declare module 'dynalite/validations/*' {
  import type { Store } from 'dynalite/db/index.js';

  /** Of an action. It parses the expressions, too, and keeps them in the parameters. */
  type Check = (parameters: unknown, store: Store) => string | undefined;

  const validation: {
    readonly types: object;
    readonly custom: Check;
    /** Only `validations/index.js` has it. */
    checkValidations(parameters: unknown, types: object, custom: Check, store: Store): void;
  };
  export default validation;
}
