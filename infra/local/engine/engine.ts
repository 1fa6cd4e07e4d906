import { randomUUID } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import dynalite from 'dynalite';
import db, { type RequestError, type Store } from 'dynalite/db/index.js';
import { foreignHostRefusal, isLoopbackHost, listen } from './loopback.ts';
import { defineTransactWrite } from './transactions.ts';

/** A server that implements DynamoDB. */
export interface Engine {
  readonly endpoint: string;
  /** Aborted when the engine ends without `close`. The reason is an Error of one line. */
  readonly crash?: AbortSignal;
  /** @throws the reason of a crash */
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
 * Runs dynalite in this process.
 * @throws {Error} when the folder or the port cannot be used
 */
export async function startEmbeddedEngine({
  dir,
  enginePort = 0,
}: EngineOptions = {}): Promise<Engine> {
  if (dir !== undefined) await checkFolder(dir);
  letIteratorsClose();
  const { server, store } = createDynalite({
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
    ...(dir !== undefined && { path: dir }),
  });
  // dynalite opens it in the background. Until then, another process could use the folder too.
  await store.db.open();
  const [serve] = server.listeners('request') as [RequestListener];
  const { listener, isIdle } = defineEngineListener(serve, defineTransactWrite(store));
  server.removeAllListeners('request').on('request', listener);
  const port = await listen(server, enginePort, '--expose-dynamodb');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      while (!isIdle()) await setTimeout(1);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * dynalite opens its store in the background. If that fails, it ends the process without a reason. Opening the store
 * here first shows whether it is in use or cannot be written.
 */
async function checkFolder(dir: string): Promise<void> {
  const { Level } = createRequire(createRequire(import.meta.url).resolve('dynalite'))('level');
  try {
    await mkdir(dir, { recursive: true });
    // Hidden files, which systems leave in any folder, do not count.
    const names = (await readdir(dir)).filter((name) => !name.startsWith('.'));
    // LevelDB would put its files among foreign ones, and delete those with names like its own.
    if (names.length > 0 && !names.includes('CURRENT')) {
      throw new Error(`it contains ${names[0]}; name an empty or a new folder`);
    }
    const store = new Level(dir);
    await store.open();
    await store.close();
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error & { code?: string } };
    const reason =
      cause?.code === 'LEVEL_LOCKED' ? 'another process is using it' : (cause?.message ?? message);
    throw new Error(`The folder ${dir} cannot be used: ${reason}`);
  }
}

/** dynalite does not expose the store that it creates, so this creates the store instead. */
function createDynalite(options: object): { server: Server; store: Store } {
  const { create } = db;
  const store = create(options);
  db.create = () => store;
  const server = dynalite(options);
  db.create = create;
  return { server, store };
}

/**
 * Lets dynalite close its iterators. After each scan and query it calls the iterator's `return` if there is one, but
 * iterators of its store, level, have only `close`. Each open one occupies 1 to 4 KB until the store is closed. In
 * memory, it also keeps all data replaced since then.
 */
function letIteratorsClose(): void {
  const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
  const requireOfLevel = createRequire(requireOfDynalite.resolve('level'));
  const { AbstractKeyIterator, AbstractValueIterator } = requireOfLevel('abstract-level');
  for (const { prototype } of [AbstractKeyIterator, AbstractValueIterator]) {
    prototype.return ??= function close(this: { close(): Promise<void> }) {
      return this.close();
    };
  }
}

type TransactWrite = ReturnType<typeof defineTransactWrite>;

/**
 * Adds TransactWriteItems to dynalite. No web page can read a response: there are no CORS headers, and the Host header
 * must name the loopback.
 * @param serve dynalite's own listener
 */
function defineEngineListener(serve: RequestListener, transactWrite: TransactWrite) {
  let underWay = 0;

  function listener(request: IncomingMessage, response: ServerResponse): void {
    if (!isLoopbackHost(request.headers.host)) {
      response.writeHead(403, { 'Content-Type': 'text/plain' }).end(`${foreignHostRefusal}\n`);
      return;
    }
    // dynalite sends CORS headers to requests with an Origin.
    delete request.headers.origin;
    track(request, response);
    if (request.headers['x-amz-target'] === 'DynamoDB_20120810.TransactWriteItems') {
      void respondToTransactWrite(transactWrite, request, response);
    } else {
      serve(request, response);
    }
    // If a client leaves in the middle of a request, dynalite throws where nobody can catch it.
    request.removeAllListeners('error').on('error', () => {});
  }

  /** Counts actions in progress. Only the last step of an action ends its response. */
  function track(request: IncomingMessage, response: ServerResponse): void {
    const end = response.end;
    request.once('end', () => {
      underWay += 1;
      response.end = ((...args: Parameters<typeof end>) => {
        underWay -= 1;
        return end.apply(response, args);
      }) as typeof end;
    });
  }

  // dynalite's own close waits for connections, but a connection may be gone before its action is done. If the action
  // then finds the store closed, it ends the process.
  return { listener, isIdle: () => underWay === 0 };
}

async function respondToTransactWrite(
  transactWrite: TransactWrite,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let statusCode = 200;
  let body: object;
  try {
    body = await transactWrite(JSON.parse(await text(request), dropNull));
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
}

/** For DynamoDB, a member that is null is absent. */
function dropNull(_: string, value: unknown): unknown {
  return value ?? undefined;
}
