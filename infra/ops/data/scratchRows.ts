import { DatabaseSync } from 'node:sqlite';

/**
 * Rows in a temporary SQLite database, for more than fit in memory. Past 16 MB it uses the disk, and it is gone when the
 * process ends. A key is text or an int64.
 */
export function openScratchRows() {
  const database = new DatabaseSync('');
  database.exec('PRAGMA cache_size = -16000; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
  database.exec('CREATE TABLE rows (key, line INTEGER, text TEXT NOT NULL); BEGIN;');
  const insert = database.prepare('INSERT INTO rows VALUES (?, ?, ?)');
  return {
    add: (key: bigint | string, line: number, text: string) => void insert.run(key, line, text),

    /** The text of every row, sorted by key, then by text. */
    *read(): Generator<string> {
      const select = database.prepare('SELECT text FROM rows ORDER BY key, text');
      for (const { text } of select.iterate()) yield String(text);
    },

    /** The rows whose key is in an earlier line too. */
    findRepeated: () =>
      database
        .prepare(
          'SELECT key, line, first FROM (SELECT key, line, min(line) OVER (PARTITION BY key) AS first FROM rows) WHERE line > first ORDER BY line',
        )
        .iterate(),

    [Symbol.dispose]: () => database.close(),
  };
}
