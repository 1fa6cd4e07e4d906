import { resources } from '../../bulk/resources.ts';
import { defineProgress } from '../../cli/progress.ts';
import { type Row, readRows } from './files/dataFile.ts';
import type { DataSource } from './files/dataSource.ts';
import { defineSeenIds, type SeenIds } from './files/seenIds.ts';
import type { Problems } from './problems.ts';
import type { Rejects } from './rejects.ts';

/** What the first reading of a file found. */
export interface CheckedFile {
  readonly source: DataSource;
  readonly rows: number;
  readonly invalid: number;
  /** Which line counts where ids repeat; undefined where none does. */
  readonly seen: SeenIds | undefined;
}

/** Reads a file through, tells what is wrong with it, and writes down its rejects. @throws the signal's reason */
export async function checkRows(
  source: DataSource,
  problems: Problems,
  signal: AbortSignal,
  rejects?: Rejects,
): Promise<CheckedFile> {
  const { name, file } = source;
  const { idName } = resources[name];
  const progress = defineProgress(`Checking ${file}`, undefined);
  const seen = defineSeenIds();
  let rows = 0;
  let invalid = 0;
  let repeats = false;
  let header: string | undefined;

  function findProblem(row: Row): string | undefined {
    if ('problem' in row) return row.problem;
    const first = seen.add(row.entry.id, row.line);
    if (first === undefined) return undefined;
    repeats = true;
    return `${idName} ${row.entry.id} is that of line ${first} too`;
  }

  for await (const page of readRows(source, resources[name])) {
    signal.throwIfAborted();
    header = page.header;
    for (const row of page.rows) {
      rows += 1;
      const problem = findProblem(row);
      if (problem === undefined) continue;
      invalid += 1;
      progress.clear();
      problems.add(file, row.line, problem);
      rejects?.add(row.line, row.text);
    }
    progress.update(rows);
  }
  progress.clear();
  await rejects?.write(header, signal);
  if (!repeats) seen.close();
  return { source, rows, invalid, seen: repeats ? seen : undefined };
}
