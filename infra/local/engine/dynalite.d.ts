declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(options: object): Server;
}

declare module 'dynalite/db/index.js' {
  /** Attributes by name, in DynamoDB's JSON. */
  export type Item = Readonly<Record<string, object>>;
  /** A description, as DescribeTable returns it. */
  export type Table = Readonly<Record<string, unknown>>;

  /** The response to a request that fails. */
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
    /** Calls `run` with the key's lock held. Calling what `release` returns gives it up. */
    lock(key: string, run: (release: (done?: Done) => () => void) => void): void;
    get(key: string, done: Done<Item>): void;
    put(key: string, item: Item, done: Done): void;
    del(key: string, done: Done): void;
  }

  export interface Store {
    /** Every table, each with its own prefix. A batch is written in full or not at all. */
    readonly db: { open(): Promise<void>; batch(writes: readonly Write[]): Promise<void> };
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

  /** If the request asks for the capacity. */
  type Result = { readonly ConsumedCapacity: { readonly CapacityUnits: number } };

  export default function act(store: Store, parameters: object, done: Done<Result>): void;
}

declare module 'dynalite/validations/*' {
  import type { Store } from 'dynalite/db/index.js';

  const validation: {
    /**
     * Checks the parameters of an action. It also parses the expressions and stores them in the parameters.
     * @returns what is wrong
     */
    custom(parameters: unknown, store: Store): string | undefined;
  };
  export default validation;
}
