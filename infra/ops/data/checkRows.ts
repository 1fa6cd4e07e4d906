import { tell, toPlain } from '../../cli/output.ts';
import { defineProgress, toCount } from '../../cli/progress.ts';
import { type DataFile, type Row, readRows } from './dataFile.ts';
import { defineSeenKeys, defineSortedLines, type SeenKeys } from './scratchDatabase.ts';
import { replaceFile } from './writeContent.ts';

/** The most invalid rows of a file that are reported one by one. */
const MAX_SHOWN = 20;

/** What the first reading of a file found. */
export interface CheckedFile extends DataFile {
  readonly rows: number;
  readonly invalid: number;
  /** Which line counts where keys repeat. */
  readonly seen: SeenKeys;
}

interface CheckOptions {
  /** The file that takes the invalid rows. */
  readonly rejects?: string | undefined;
  readonly 'skip-invalid'?: boolean | undefined;
}

/** Checks every row of every file. @throws {Error} when rows are invalid, unless they are to be skipped */
export async function checkFiles(
  files: readonly DataFile[],
  { rejects, 'skip-invalid': skipsInvalid }: CheckOptions,
  signal: AbortSignal,
): Promise<CheckedFile[]> {
  const checked: CheckedFile[] = [];
  for (const file of files) checked.push(await checkRows(file, rejects, signal));
  const counts = checked
    .filter(({ invalid }) => invalid > 0)
    .map(({ file, rows, invalid }) => `${toCount(invalid)} of ${toCount(rows, 'row')} in ${file}`);
  if (skipsInvalid || counts.length === 0) return checked;
  throw new Error(
    `Nothing was written; not valid: ${counts.join(' and ')}. Correct them, or add --skip-invalid to load the others.`,
  );
}

async function checkRows(
  checked: DataFile,
  rejects: string | undefined,
  signal: AbortSignal,
): Promise<CheckedFile> {
  const { file } = checked;
  using progress = defineProgress(`Checking ${file}`, undefined);
  using rejected = defineSortedLines();
  const seen = defineSeenKeys();
  let rows = 0;
  let invalid = 0;
  let header: string | undefined;

  function findProblem(row: Row): string | undefined {
    if ('problem' in row) return row.problem;
    const { key } = row.entry;
    const first = seen.add(key, row.line);
    return first === row.line ? undefined : `${key} is that of line ${first} too`;
  }

  for await (const page of readRows(checked)) {
    signal.throwIfAborted();
    header = page.header;
    for (const row of page.rows) {
      rows += 1;
      const problem = findProblem(row);
      if (problem === undefined) continue;
      invalid += 1;
      progress.clear();
      // The problem may quote the file.
      if (invalid <= MAX_SHOWN) tell(`${file}:${row.line}: ${toPlain(problem)}`);
      rejected.add(BigInt(row.line), row.text);
    }
    progress.update(rows);
  }
  progress.clear();
  if (invalid > MAX_SHOWN) tell(`… and ${toCount(invalid - MAX_SHOWN, 'more invalid row')}.`);
  if (rejects !== undefined) await replaceFile(rejects, rejected.read(header), signal);
  return { ...checked, rows, invalid, seen };
}
