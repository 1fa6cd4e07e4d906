import { tell, toPlain } from '../../cli/output.ts';
import { defineProgress, toCount } from '../../cli/progress.ts';
import { type DataFile, type Row, readRows } from './dataFile.ts';
import { defineSeenKeys } from './scratchDatabase.ts';

/** How many invalid rows of a file are reported one by one. */
const MAX_SHOWN = 20;

export interface CheckedFile extends DataFile {
  readonly rows: number;
}

/** Checks every row of every file, and reports the invalid ones. @throws {Error} if there are any */
export async function checkFiles(
  files: readonly DataFile[],
  signal: AbortSignal,
): Promise<CheckedFile[]> {
  const checked: CheckedFile[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const { rows, invalid } = await countRows(file, signal);
    checked.push({ ...file, rows });
    if (invalid > 0) {
      problems.push(`${toCount(invalid)} of ${toCount(rows, 'row')} in ${file.file}`);
    }
  }
  if (problems.length === 0) return checked;
  throw new Error(`Nothing was written; not valid: ${problems.join(' and ')}. Correct them.`);
}

async function countRows(checked: DataFile, signal: AbortSignal) {
  const { file } = checked;
  using progress = defineProgress(`Checking ${file}`, undefined);
  using seen = defineSeenKeys();
  let rows = 0;
  let invalid = 0;

  function findProblem(row: Row): string | undefined {
    if ('problem' in row) return row.problem;
    const { key } = row.entry;
    const first = seen.add(key, row.line);
    return first === row.line ? undefined : `${key} is already in line ${first}`;
  }

  for await (const page of readRows(checked)) {
    signal.throwIfAborted();
    for (const row of page) {
      rows += 1;
      const problem = findProblem(row);
      if (problem === undefined) continue;
      invalid += 1;
      progress.clear();
      // The problem may quote the file.
      if (invalid <= MAX_SHOWN) tell(`${file}:${row.line}: ${toPlain(problem)}`);
    }
    progress.update(rows);
  }
  progress.clear();
  if (invalid > MAX_SHOWN) tell(`… and ${toCount(invalid - MAX_SHOWN, 'more invalid row')}.`);
  return { rows, invalid };
}
