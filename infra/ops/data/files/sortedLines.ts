import { openScratchDatabase } from './scratchDatabase.ts';

/** Lines of text, given in any order and read in the order of their ids. */
export interface SortedLines {
  add(id: bigint, line: string): void;
  /** Every line, some thousands at a time, each with its line end. */
  read(): Generator<string, void, undefined>;
  close(): void;
}

const LINES_AT_A_TIME = 2_000;

/** A scan has no order, so a database of their own sorts the lines. */
export function defineSortedLines(): SortedLines {
  const database = openScratchDatabase(
    'CREATE TABLE lines (id INTEGER NOT NULL, line TEXT NOT NULL)',
  );
  const insert = database.prepare('INSERT INTO lines VALUES (?, ?)');
  // Two orders may share an id, since the table's key has their time in it too.
  const select = database.prepare('SELECT line FROM lines ORDER BY id, line');

  return {
    add(id, line) {
      insert.run(id, line);
    },
    *read() {
      let lines: string[] = [];
      for (const row of select.iterate()) {
        lines.push(`${row.line}\n`);
        if (lines.length < LINES_AT_A_TIME) continue;
        yield lines.join('');
        lines = [];
      }
      yield lines.join('');
    },
    close: () => database.close(),
  };
}
