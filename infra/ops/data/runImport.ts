import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Item } from '../../bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  type WriteGroup,
  writeAll,
} from '../../bulk/tableWriters.ts';
import { commands } from '../../cli/commands.ts';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { print, tell, toPlain } from '../../cli/output.ts';
import { defineProgress, toCount, toTime } from '../../cli/progress.ts';
import { UsageError } from '../../cli/usage.ts';
import { tables } from '../../stages/tables.ts';
import { copyInput, type DataFile, parseFiles, type Row, readRows } from './dataFile.ts';
import { openDataTable } from './dataOptions.ts';
import { defineSeenKeys } from './scratchDatabase.ts';
import { checkNamedFiles } from './writeContent.ts';

export async function runImport(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: commands.import.options }).values;
  const { overwrite = false, stage, 'dry-run': isDryRun } = options;
  const typed = parseFiles(options);
  const maxWcu = parseMaxWcu(options['max-wcu']);
  checkNamedFiles(typed, 'input');
  const opened = await Promise.all(
    typed.map(async ({ name }) => ({ name, table: await openDataTable(options, name) })),
  );
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal } = interruption;
  const takeUnits = maxWcu === undefined ? undefined : defineWriteRate(maxWcu, signal);
  const writers: WriteGroup[] = [];
  for (const { name, table } of opened) {
    const access = { ...table, takeUnits, signal };
    const keyName = tables[name].partitionKey.name;
    writers.push(overwrite ? defineReplacingWriter(access) : defineAddingWriter(access, keyName));
  }
  if (overwrite && !isDryRun && stage !== undefined && !options.yes) {
    const names = typed.map(({ name }) => name).join(' and ');
    const question = `Replace what the ${stage} stage has of ${names}, for good?`;
    if (!(await confirm(question))) return print('Nothing was changed.');
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), 'petstore-import-'));
  try {
    const readable = await copyInput(typed, folder.path, signal);
    for (const [index, checked] of (await checkFiles(readable, signal)).entries()) {
      const { name, file, rows } = checked;
      const count = toCount(rows, 'valid row');
      if (isDryRun) print(`${name}: ${count} in ${file}; nothing was written.`);
      else await load(checked, writers[index] as WriteGroup, overwrite);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    tell('Interrupted.');
    process.exitCode = interruption.status();
  }
}

function parseMaxWcu(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`--max-wcu must be a whole number from 1 to 9999999; it is "${text}".`);
}

/** How many invalid rows of a file are reported one by one. */
const MAX_SHOWN = 20;

interface CheckedFile extends DataFile {
  readonly rows: number;
}

/** Checks every row of every file, and reports the invalid ones. @throws {Error} if there are any */
async function checkFiles(files: readonly DataFile[], signal: AbortSignal): Promise<CheckedFile[]> {
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

/** Writes the rows of a file to its table. */
async function load(
  checked: CheckedFile,
  writeGroup: WriteGroup,
  overwrite: boolean,
): Promise<void> {
  const { name, file, rows } = checked;
  using progress = defineProgress(`Loading ${file}`, rows);
  const started = performance.now();
  let done = 0;
  let written = 0;
  try {
    await writeAll(readItems(checked), writeGroup, (items, count) => {
      done += items;
      written += count;
      progress.update(done);
    });
  } catch (error) {
    progress.clear();
    tell(
      `${toCount(written, 'row')} of ${file} were written; run the same command again to load the rest.`,
    );
    throw error;
  }
  progress.clear();
  const seconds = (performance.now() - started) / 1_000;
  const figures = overwrite
    ? `${toCount(written)} written`
    : `${toCount(written)} added, ${toCount(done - written)} there already and kept`;
  print(
    `${name}: ${toCount(rows, 'row')} in ${file}: ${figures}; ` +
      `${toTime(seconds)}, ${toCount(done / seconds, 'row')}/s.`,
  );
}

async function* readItems(file: CheckedFile): AsyncGenerator<Item> {
  for await (const page of readRows(file)) {
    for (const row of page) if ('entry' in row) yield row.entry.item;
  }
}
