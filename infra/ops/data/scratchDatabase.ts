import { DatabaseSync } from 'node:sqlite';

const LINES_AT_A_TIME = 2_000;

/** The first line of each key, in a database, so that it is exact for millions in any order. */
export function defineSeenKeys() {
  const database = openScratchDatabase(
    'CREATE TABLE seen (key TEXT PRIMARY KEY, line INTEGER NOT NULL) WITHOUT ROWID',
  );
  const insert = database.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?)');
  const select = database.prepare('SELECT line FROM seen WHERE key = ?');

  return {
    /** Records the line, and returns the first that had the key, which may be this one. */
    add: (key: string, line: number) =>
      insert.run(key, line).changes === 0 ? select.get(key)?.line : line,
    [Symbol.dispose]: () => database.close(),
  };
}

/** Lines of text, added in any order and read sorted by id. */
export function defineSortedLines() {
  const database = openScratchDatabase(
    'CREATE TABLE lines (id INTEGER NOT NULL, line TEXT NOT NULL)',
  );
  const insert = database.prepare('INSERT INTO lines VALUES (?, ?)');
  // Two orders may share an id, since the table's key includes the time.
  const select = database.prepare('SELECT line FROM lines ORDER BY id, line');

  return {
    add(id: bigint, line: string): void {
      insert.run(id, line);
    },
    /** Every line, some thousands at a time, each with its line end. @param header a line before them */
    *read(header: string | undefined): Generator<string, void, undefined> {
      let lines = header === undefined ? [] : [`${header}\n`];
      for (const row of select.iterate()) {
        lines.push(`${row.line}\n`);
        if (lines.length < LINES_AT_A_TIME) continue;
        yield lines.join('');
        lines = [];
      }
      yield lines.join('');
    },
    [Symbol.dispose]: () => database.close(),
  };
}

/**
 * A temporary SQLite database with one table, for more rows than fit in memory. Past 16 MB it uses the disk, and it
 * is gone when the process ends. SQLite's integers are int64.
 */
function openScratchDatabase(createTable: string): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec('PRAGMA cache_size = -16000; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
  database.exec(`${createTable}; BEGIN;`);
  return database;
}
