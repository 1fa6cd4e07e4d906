import { mkdir, readdir } from 'node:fs/promises';
import type { RequestListener, Server } from 'node:http';
import { createRequire } from 'node:module';
import dynalite from 'dynalite';
import db, { type DynaliteOptions, type Store } from 'dynalite/db/index.js';
import { listen, StartFailure } from './loopback.ts';
import { defineEngineListener } from './requestListener.ts';
import { defineTransactWrite } from './transactions.ts';

/** Something that speaks DynamoDB. */
export interface Engine {
  readonly endpoint: string;
  /** Aborted when it ends without being closed; the reason is a StartFailure. */
  readonly crash?: AbortSignal;
  /** @throws the reason of a crash */
  close(): Promise<void>;
}

export interface EngineOptions {
  /** The folder that keeps the data; without one it is in memory. */
  readonly dir?: string | undefined;
  /** Of the loopback; by default the system picks one, as it does for 0. */
  readonly enginePort?: number | undefined;
}

/** @throws {StartFailure} when the folder or the port cannot be used */
export type StartEngine = (options: EngineOptions) => Promise<Engine>;

/**
 * dynalite in this process.
 * @throws {StartFailure} when the folder or the port cannot be used
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
  const [answer] = server.listeners('request') as [RequestListener];
  const { listener, isIdle } = defineEngineListener(answer, defineTransactWrite(store));
  server.removeAllListeners('request').on('request', listener);
  const port = await listen(server, enginePort, '--expose-dynamodb');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      await isIdle();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/**
 * dynalite opens its store in the background and ends the process when that fails, without the
 * reason; opening it once before tells whether it is in use or cannot be written.
 */
async function checkFolder(dir: string): Promise<void> {
  const { Level } = createRequire(createRequire(import.meta.url).resolve('dynalite'))('level');
  try {
    await mkdir(dir, { recursive: true });
    refuseForeignFiles(await readdir(dir));
    const store = new Level(dir);
    await store.open();
    await store.close();
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error & { code?: string } };
    const reason =
      cause?.code === 'LEVEL_LOCKED' ? 'another process is using it' : (cause?.message ?? message);
    throw new StartFailure(`The folder ${dir} cannot be used: ${reason}`);
  }
}

/** What LevelDB makes first: https://github.com/google/leveldb/blob/main/doc/impl.md */
const storeFile = /^(CURRENT|LOCK|LOG(\.old)?|MANIFEST-\d+|\d+\.dbtmp)$/;
const storeDataFile = /^\d+\.(ldb|sst|log)$/;

/**
 * LevelDB would put its files among those of others, and remove what is named as its own. Hidden files,
 * which systems leave in any folder, do not count.
 */
function refuseForeignFiles(names: readonly string[]): void {
  const isStore = names.includes('CURRENT');
  const foreign = names.find(
    (name) =>
      !name.startsWith('.') && !storeFile.test(name) && !(isStore && storeDataFile.test(name)),
  );
  if (foreign === undefined) return;
  throw new Error(
    `it holds ${foreign}, which is not the local stage's; name one that is empty, or not there yet`,
  );
}

/** dynalite does not give out the store that it makes; this makes the store in its place. */
function createDynalite(options: DynaliteOptions): { server: Server; store: Store } {
  const { create } = db;
  const store = create(options);
  try {
    db.create = () => store;
    return { server: dynalite(options), store };
  } finally {
    db.create = create;
  }
}

interface LevelIterator {
  close(): Promise<void>;
  return?(): Promise<void>;
}

/**
 * Lets dynalite close what it reads tables by. After each scan and query it calls the iterator's `return`, if
 * there is one, but those of its store, level, have only `close`. Each that stays open is held for as long as
 * the store: 1 to 4 KB, and in memory whatever has been replaced in the tables since.
 */
function letIteratorsClose(): void {
  const requireOfDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
  const requireOfLevel = createRequire(requireOfDynalite.resolve('level'));
  const { AbstractKeyIterator, AbstractValueIterator } = requireOfLevel('abstract-level') as Record<
    'AbstractKeyIterator' | 'AbstractValueIterator',
    { readonly prototype: LevelIterator }
  >;
  for (const { prototype } of [AbstractKeyIterator, AbstractValueIterator]) {
    prototype.return ??= function close(this: LevelIterator) {
      return this.close();
    };
  }
}
