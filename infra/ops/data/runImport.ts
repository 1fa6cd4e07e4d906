import { parseArgs } from 'node:util';
import { defineAddingWriter } from '../../bulk/addingWriter.ts';
import { toKeySchema } from '../../bulk/keySchema.ts';
import { defineReplacingWriter } from '../../bulk/replacingWriter.ts';
import { defineWriteRate } from '../../bulk/writeRate.ts';
import { confirm } from '../../cli/confirm.ts';
import { parseDuration } from '../../cli/duration.ts';
import { type Interruption, listenForInterruption } from '../../cli/interruption.ts';
import { toCount, toTime } from '../../cli/progress.ts';
import { checkFiles } from './checkFiles.ts';
import type { CheckedFile } from './checkRows.ts';
import { checkDataTables, type DataTables, openDataTables } from './dataTableOption.ts';
import { copyInput } from './files/copyInput.ts';
import { checkReadable, parseFiles } from './files/dataSource.ts';
import { type ImportOptions, importFlags, importHelp, parseMaxWcu } from './importOptions.ts';
import { type LoadState, loadRows } from './loadRows.ts';
import { checkRejects } from './rejects.ts';

/** The exit status of an import that left rows out because they are not valid. */
const LEFT_OUT = 3;

/** Loads data files into tables. @throws {UsageError} when what was typed makes no sense */
export async function runImport(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: importFlags }).values;
  if (options.help) print(importHelp.trimEnd());
  else await run(options);
}

async function run(options: ImportOptions): Promise<void> {
  const sources = parseFiles(options);
  const maxWcu = parseMaxWcu(options['max-wcu']);
  const giveUpAfter = parseDuration('--give-up-after', options['give-up-after'] ?? '60s');
  checkDataTables(options);
  await checkReadable(sources);
  await checkRejects(options.rejects, sources);
  const tables = await openDataTables(
    options,
    sources.map(({ name }) => name),
  );
  if (options.overwrite && !options['dry-run'] && options.stage !== undefined && !options.yes) {
    const names = sources.map(({ name }) => name).join(' and ');
    const question = `Replace what the ${options.stage} stage has of ${names}, for good?`;
    if (!(await confirm(question))) return print('Nothing was changed.');
  }
  using interruption = listenForInterruption();
  const { signal } = interruption;

  let files: readonly CheckedFile[];
  await using disposal = new AsyncDisposableStack();
  try {
    const readable = disposal.use(await copyInput(sources, signal));
    files = await checkFiles(readable.sources, options, tell, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return stop(interruption, 'Interrupted; nothing was written.');
  }
  if (files.some(({ invalid }) => invalid > 0)) process.exitCode = LEFT_OUT;
  if (options['dry-run']) return files.forEach(printDryRun);
  const rate = maxWcu === undefined ? undefined : defineWriteRate(maxWcu, signal);
  const defineWriter = options.overwrite ? defineReplacingWriter : defineAddingWriter;
  for (const file of files) {
    const { name } = file.source;
    if (signal.aborted) return stop(interruption, `Interrupted before ${file.source.file}.`);
    const access = { ...toAccess(tables, file), rate, giveUpAfter, signal };
    const writer = defineWriter({ ...access, key: toKeySchema(name) });
    if (!(await load(file, writer, interruption, options))) return;
  }
}

/** Returns whether it came to its end. */
async function load(
  file: CheckedFile,
  writeGroup: Parameters<typeof loadRows>[1],
  interruption: Interruption,
  { overwrite }: ImportOptions,
): Promise<boolean> {
  const state: LoadState = { written: 0, kept: 0, line: 0 };
  const started = performance.now();
  const { name } = file.source;
  const where = () =>
    `${file.source.file} is loaded up to line ${state.line} (${toCount(state.written)} written); ` +
    'run the same command again to load the rest';
  try {
    await loadRows(file, writeGroup, state, interruption.signal);
  } catch (error) {
    if (interruption.signal.aborted) {
      stop(interruption, `Interrupted: ${where()}.`);
      return false;
    }
    tell(`Stopped: ${where()}.`);
    throw error;
  }
  const seconds = (performance.now() - started) / 1_000;
  const figures = [
    `${toCount(state.written)} ${overwrite ? 'written' : 'added'}`,
    ...(overwrite ? [] : [`${toCount(state.kept)} there already and kept`]),
    ...(file.invalid > 0 ? [`${toCount(file.invalid)} not valid and left out`] : []),
  ];
  print(
    `${name}: ${toCount(file.rows, 'row')} in ${file.source.file}: ${figures.join(', ')}; ` +
      `${toTime(seconds)}, ${toCount((state.written + state.kept) / seconds, 'row')}/s.`,
  );
  return true;
}

function toAccess({ client, tableNames }: DataTables, { source }: CheckedFile) {
  return { client, tableName: tableNames[source.name] };
}

function printDryRun({ source: { name, file }, rows, invalid }: CheckedFile): void {
  const valid = `${toCount(rows - invalid)} of ${toCount(rows, 'row')} in ${file} are valid`;
  print(`${name}: ${valid}; nothing was written.`);
}

function stop(interruption: Interruption, line: string): void {
  tell(line);
  process.exitCode = interruption.status();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
