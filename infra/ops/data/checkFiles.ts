import { toCount } from '../../cli/progress.ts';
import { type CheckedFile, checkRows } from './checkRows.ts';
import type { DataSource } from './files/dataSource.ts';
import type { ImportOptions } from './importOptions.ts';
import { defineProblems } from './problems.ts';
import { defineRejects } from './rejects.ts';

/**
 * Checks every row of every file before the first is written.
 * @param tell takes a line for whoever runs the import
 * @throws {Error} when rows are not valid, unless they are to be skipped
 */
export async function checkFiles(
  sources: readonly DataSource[],
  options: ImportOptions,
  tell: (line: string) => void,
  signal: AbortSignal,
): Promise<CheckedFile[]> {
  const problems = defineProblems(tell);
  const rejects = options.rejects === undefined ? undefined : defineRejects(options.rejects);
  const files: CheckedFile[] = [];
  for (const source of sources) files.push(await checkRows(source, problems, signal, rejects));
  problems.finish();
  refuseInvalid(files, options);
  return files;
}

function refuseInvalid(files: readonly CheckedFile[], options: ImportOptions): void {
  const wrong = files.filter(({ invalid }) => invalid > 0);
  if (wrong.length === 0 || options['skip-invalid']) return;
  const counts = wrong.map(
    ({ source, rows, invalid }) =>
      `${toCount(invalid)} of ${toCount(rows, 'row')} in ${source.file}`,
  );
  const isOne = wrong.length === 1 && wrong[0]?.invalid === 1;
  throw new Error(
    `Nothing was written: ${counts.join(' and ')} ${isOne ? 'is' : 'are'} not valid. ` +
      `Correct ${isOne ? 'it' : 'them'}, or add --skip-invalid to load the others.`,
  );
}
