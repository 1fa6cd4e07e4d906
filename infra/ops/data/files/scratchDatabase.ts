import { DatabaseSync } from 'node:sqlite';

/**
 * A temporary SQLite database with one table, for more rows than memory should hold: what outgrows its
 * 16 MB goes to the disk, and all of it goes with the process. SQLite's integers are int64.
 */
export function openScratchDatabase(createTable: string): DatabaseSync {
  const database = new DatabaseSync('');
  database.exec('PRAGMA cache_size = -16000; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
  database.exec(`${createTable}; BEGIN;`);
  return database;
}
