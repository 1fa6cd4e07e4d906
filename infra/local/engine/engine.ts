import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  actions,
  db,
  type Item,
  type RequestError,
  readTable,
  requestError,
  type Store,
  toItemId,
  validations,
} from './dynalite.ts';
import { foreignHostRefusal, isLoopbackHost, listen } from './loopback.ts';
import { defineTransactWrite } from './transactions.ts';

/** A server that implements DynamoDB. */
export interface Engine {
  readonly endpoint: string;
  /** Adds or replaces valid items while no request is under way. */
  putItems(tableName: string, items: readonly Item[]): Promise<void>;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** The folder with the data; without one it is in memory. */
  readonly dir?: string | undefined;
  /** A port of the loopback; by default, and for 0, the system chooses one. */
  readonly enginePort?: number | undefined;
}

/** @throws {Error} when the folder or the port cannot be used */
export type StartEngine = (options: EngineOptions) => Promise<Engine>;

/**
 * Runs dynalite in this process. No web page can read a response: there are no CORS headers, and the Host header must
 * name the loopback.
 * @throws {Error} when the folder or the port cannot be used
 */
export async function startEmbeddedEngine({
  dir,
  enginePort = 0,
}: EngineOptions = {}): Promise<Engine> {
  const store = await openStore(dir);
  const act = defineActions(store);
  const server = createServer(async (request, response) => {
    if (!isLoopbackHost(request.headers.host)) {
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end(`${foreignHostRefusal}\n`);
      return;
    }
    let statusCode = 200;
    let body: object | undefined;
    try {
      body = await act(`${request.headers['x-amz-target']}`, await text(request));
    } catch (error) {
      const known = error as Partial<RequestError>;
      statusCode = known.statusCode ?? 500;
      body = known.body ?? { __type: 'InternalServerError', message: String(error) };
    }
    response.writeHead(statusCode, {
      'Content-Type': 'application/x-amz-json-1.0',
      'x-amzn-RequestId': randomUUID(),
    });
    response.end(JSON.stringify(body));
  });

  const port = await listen(server, enginePort, '--expose-dynamodb');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async putItems(tableName, items) {
      const table = await readTable(store, tableName);
      const writes = items.map((value) => {
        const key = toItemId(tableName, db.createKey(value, table));
        return { type: 'put', key, value } as const;
      });
      await store.db.batch(writes);
    },
    async close() {
      const closed = once(server.close(), 'close');
      server.closeAllConnections();
      await closed;
      // Waits for writes in progress. An action that needs the store later fails, which nobody sees.
      await store.db.close();
    },
  };
}

/** Calls the action that a header `X-Amz-Target` names. */
function defineActions(store: Store) {
  const transactWrite = defineTransactWrite(store);

  return async function act(target: string, body: string): Promise<object | undefined> {
    const name = target.replace('DynamoDB_20120810.', '');
    const action = actions.get(name);
    if (!action && name !== 'TransactWriteItems') {
      throw requestError('com.amazon.coral.service#UnknownOperationException');
    }
    // A body of `null` is an object too.
    const given = Object(JSON.parse(body, dropNull));
    if (!action) return transactWrite(given);
    const parameters = validations.checkTypes(given, action.types);
    validations.checkValidations(parameters, action.types, action.custom, store);
    return action.act(store, parameters);
  };
}

async function openStore(dir: string | undefined): Promise<Store> {
  const instant = { createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 };
  try {
    if (dir !== undefined) await checkFolder(dir);
    const store = db.create({ ...instant, path: dir });
    await store.db.open();
    letIteratorsClose(store);
    return store;
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error & { code?: string } };
    const reason =
      cause?.code === 'LEVEL_LOCKED' ? 'another process is using it' : (cause?.message ?? message);
    throw new Error(`The folder ${dir} cannot be used: ${reason}`);
  }
}

/** LevelDB would put its files among others, and delete those with names like its own. */
async function checkFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
  // Hidden files, which systems leave in any folder, do not count.
  const names = (await readdir(dir)).filter((name) => !name.startsWith('.'));
  if (names.length > 0 && !names.includes('CURRENT')) {
    throw new Error(`it contains ${names[0]}; name an empty or a new folder`);
  }
}

/**
 * Lets dynalite close its iterators. After each scan and query it calls the iterator's `return` if there is one, but
 * iterators of its store, level, have only `close`. Each open one occupies 1 to 4 KB until the store is closed. In
 * memory, it also keeps all data replaced since then.
 */
function letIteratorsClose({ db: level }: Store): void {
  for (const name of ['keys', 'values'] as const) {
    const iterate = level[name];
    level[name] = (options) => {
      const iterator = iterate.call(level, options);
      iterator.return = () => iterator.close();
      return iterator;
    };
  }
}

/** For DynamoDB, a member that is null is absent. */
function dropNull(_: string, value: unknown): unknown {
  return value ?? undefined;
}
