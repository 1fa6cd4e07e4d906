import { openScratchDatabase } from './scratchDatabase.ts';

/** Which line of a file had which id first. */
export interface SeenIds {
  /** Notes the line, and returns the line that had the id before, if one had. */
  add(id: bigint, line: number): number | undefined;
  /** The first line that had the id. */
  firstLine(id: bigint): number | undefined;
  close(): void;
}

/** Ids are kept in a database of their own, so that millions in any order can be told apart exactly. */
export function defineSeenIds(): SeenIds {
  const database = openScratchDatabase(
    'CREATE TABLE seen (id INTEGER PRIMARY KEY, line INTEGER NOT NULL)',
  );
  const insert = database.prepare('INSERT OR IGNORE INTO seen VALUES (?, ?)');
  const select = database.prepare('SELECT line FROM seen WHERE id = ?');

  const firstLine = (id: bigint) => select.get(id)?.line as number | undefined;
  return {
    add: (id, line) => (insert.run(id, line).changes === 0 ? firstLine(id) : undefined),
    firstLine,
    close: () => database.close(),
  };
}
