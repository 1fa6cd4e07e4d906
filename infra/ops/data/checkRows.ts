import { resources } from '../../bulk/resources.ts';
import { tell } from '../../cli/output.ts';
import { defineProgress, toCount } from '../../cli/progress.ts';
import { type DataFile, type Row, readRows } from './dataFile.ts';
import { defineSeenIds, defineSortedLines, type SeenIds } from './scratchDatabase.ts';
import { replaceFile } from './writeContent.ts';

/** Of more invalid rows than this, only the count is reported. */
const MAX_SHOWN = 20;

/** What the first reading of a file found. */
export interface CheckedFile extends DataFile {
  readonly rows: number;
  readonly invalid: number;
  /** Which line counts where ids repeat. */
  readonly seen: SeenIds;
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
  let invalid = 0;
  function report(file: string, line: number, problem: string): void {
    invalid += 1;
    // The problem may quote the file, line ends and control characters included.
    if (invalid <= MAX_SHOWN) tell(`${file}:${line}: ${problem.replaceAll(/[\s\p{Cc}]+/gu, ' ')}`);
  }

  const checked: CheckedFile[] = [];
  for (const file of files) checked.push(await checkRows(file, report, rejects, signal));
  if (invalid > MAX_SHOWN) tell(`… and ${toCount(invalid - MAX_SHOWN, 'more invalid row')}.`);
  if (invalid > 0 && !skipsInvalid) throw new Error(toRefusal(checked));
  return checked;
}

async function checkRows(
  checked: DataFile,
  report: (file: string, line: number, problem: string) => void,
  rejects: string | undefined,
  signal: AbortSignal,
): Promise<CheckedFile> {
  const { name, file } = checked;
  const progress = defineProgress(`Checking ${file}`, undefined);
  const seen = defineSeenIds();
  const rejected = rejects === undefined ? undefined : defineSortedLines();
  let rows = 0;
  let invalid = 0;
  let header: string | undefined;

  function findProblem(row: Row): string | undefined {
    if ('problem' in row) return row.problem;
    const first = seen.add(row.entry.id, row.line);
    if (first === row.line) return undefined;
    return `${resources[name].idName} ${row.entry.id} is that of line ${first} too`;
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
      report(file, row.line, problem);
      rejected?.add(BigInt(row.line), row.text);
    }
    progress.update(rows);
  }
  progress.clear();
  if (rejects !== undefined && rejected) {
    await replaceFile(rejects, rejected.read(header), signal);
    rejected.close();
  }
  return { ...checked, rows, invalid, seen };
}

function toRefusal(files: readonly CheckedFile[]): string {
  const counts = files
    .filter(({ invalid }) => invalid > 0)
    .map(({ file, rows, invalid }) => `${toCount(invalid)} of ${toCount(rows, 'row')} in ${file}`);
  return `Nothing was written; not valid: ${counts.join(' and ')}. Correct them, or add --skip-invalid to load the others.`;
}
