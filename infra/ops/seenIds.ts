import { DatabaseSync } from 'node:sqlite';

/** Which line of a file had which id first. */
export interface SeenIds {
  /** Notes the line, and returns the line that had the id before, if one had. */
  add(id: bigint, line: number): number | undefined;
  /** The first line that had the id. */
  firstLine(id: bigint): number | undefined;
  close(): void;
}

/**
 * Ids are kept in a temporary SQLite database, which moves to the disk what outgrows its 16 MB of
 * memory, so that millions of ids in any order can be told apart exactly. SQLite's integers are int64.
 */
export function defineSeenIds(): SeenIds {
  const database = new DatabaseSync('');
  database.exec('PRAGMA cache_size = -16000; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
  database.exec('CREATE TABLE seen (id INTEGER PRIMARY KEY, line INTEGER NOT NULL); BEGIN;');
  const insert = database.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?)');
  const select = database.prepare('SELECT line FROM seen WHERE id = ?');

  const firstLine = (id: bigint) => select.get(id)?.line as number | undefined;
  return {
    add: (id, line) => (insert.run(id, line).changes === 0 ? firstLine(id) : undefined),
    firstLine,
    close: () => database.close(),
  };
}
