import { parseArgs } from 'node:util';
import { type Entry, toKeySchema } from '../../bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  GROUP_SIZE,
  type WriteGroup,
} from '../../bulk/tableWriters.ts';
import { confirm } from '../../cli/confirm.ts';
import { type Interruption, listenForInterruption } from '../../cli/interruption.ts';
import { print, tell } from '../../cli/output.ts';
import { defineProgress, toCount, toTime } from '../../cli/progress.ts';
import { parseDuration } from '../../cli/time.ts';
import { UsageError } from '../../cli/usage.ts';
import { type CheckedFile, checkFiles, checkRejects } from './checkRows.ts';
import { checkReadable, copyInput, parseFiles, type Row, readRows } from './dataFile.ts';
import { checkDataTables, dataFlags, dataTableHelp, openDataTables } from './dataOptions.ts';

const help = `npm run import -- [--inventory FILE] [--pets FILE] [--orders FILE] [options]

Loads data files into a stage's tables. Every row is checked before the first is written. What a table
has already is kept, so the same command can be run again after an interruption.

Files:
  --inventory FILE.csv|.jsonl     CSV starts with the line petId,quantity,status
  --pets FILE.jsonl               JSON Lines: one JSON object a line, as the service answers it
  --orders FILE.jsonl
  each may be gzip (.csv.gz, .jsonl.gz); - is standard input, with CSV of the inventory, else JSON Lines

${dataTableHelp}
Options:
  --dry-run                       check files and tables, and write nothing to the tables
  --rejects FILE                  write the rows that are not valid to this file, to be corrected there and
                                  imported; only with one of the files above
  --skip-invalid                  load the rows that are valid, in place of none; the status is 3 when
                                  some were left out
  --overwrite                     replace what is there; asks first on a stage
  --yes                           do not ask
  --max-wcu N                     use at most N write request units a second
  --give-up-after 60s             how long to go on when a table throttles or cannot be reached`;

const flags = {
  ...dataFlags,
  'dry-run': { type: 'boolean' },
  rejects: { type: 'string' },
  'skip-invalid': { type: 'boolean' },
  overwrite: { type: 'boolean' },
  yes: { type: 'boolean' },
  'max-wcu': { type: 'string' },
} as const;

type ImportOptions = ReturnType<typeof parseArgs<{ options: typeof flags }>>['values'];

/** The exit status of an import that left rows out because they are not valid. */
const LEFT_OUT = 3;

/** Loads data files into tables. */
export async function runImport(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: flags }).values;
  if (options.help) return print(help);
  const { overwrite, stage, 'dry-run': isDryRun } = options;
  const typed = parseFiles(options);
  const maxWcu = parseMaxWcu(options['max-wcu']);
  const giveUpAfter = parseDuration('--give-up-after', options['give-up-after']);
  checkDataTables(options);
  await checkReadable(typed);
  await checkRejects(options, typed);
  const names = typed.map(({ name }) => name);
  const { client, tableNames } = await openDataTables(options, names);
  if (overwrite && !isDryRun && stage !== undefined && !options.yes) {
    const question = `Replace what the ${stage} stage has of ${names.join(' and ')}, for good?`;
    if (!(await confirm(question))) return print('Nothing was changed.');
  }
  using interruption = listenForInterruption();
  const { signal } = interruption;

  let files: readonly CheckedFile[];
  await using disposal = new AsyncDisposableStack();
  try {
    const readable = disposal.use(await copyInput(typed, signal));
    files = await checkFiles(readable.files, options, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    return stop(interruption, 'Interrupted; nothing was written.');
  }
  if (files.some(({ invalid }) => invalid > 0)) process.exitCode = LEFT_OUT;
  if (isDryRun) return files.forEach(printDryRun);
  const takeUnits = maxWcu === undefined ? undefined : defineWriteRate(maxWcu, signal);
  const defineWriter = overwrite ? defineReplacingWriter : defineAddingWriter;
  for (const file of files) {
    if (signal.aborted) return stop(interruption, `Interrupted before ${file.file}.`);
    const access = { client, tableName: tableNames[file.name], takeUnits, giveUpAfter, signal };
    const writeGroup = defineWriter({ ...access, key: toKeySchema(file.name) });
    if (!(await load(file, writeGroup, interruption, options))) return;
  }
}

function parseMaxWcu(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new UsageError(`--max-wcu must be a whole number from 1 to 9999999; it is "${text}".`);
}

/** Returns whether it came to its end. */
async function load(
  checked: CheckedFile,
  writeGroup: WriteGroup,
  interruption: Interruption,
  { overwrite }: ImportOptions,
): Promise<boolean> {
  const { name, file, rows, invalid } = checked;
  const state: LoadState = { written: 0, kept: 0, line: 0 };
  const started = performance.now();
  const where = () =>
    `${file} is loaded up to line ${state.line} (${toCount(state.written)} written); ` +
    'run the same command again to load the rest';
  try {
    await loadRows(checked, writeGroup, state, interruption.signal);
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
    ...(invalid > 0 ? [`${toCount(invalid)} not valid and left out`] : []),
  ];
  print(
    `${name}: ${toCount(rows, 'row')} in ${file}: ${figures.join(', ')}; ` +
      `${toTime(seconds)}, ${toCount((state.written + state.kept) / seconds, 'row')}/s.`,
  );
  return true;
}

function printDryRun({ name, file, rows, invalid }: CheckedFile): void {
  const valid = `${toCount(rows - invalid)} of ${toCount(rows, 'row')} in ${file} are valid`;
  print(`${name}: ${valid}; nothing was written.`);
}

function stop(interruption: Interruption, line: string): void {
  tell(line);
  process.exitCode = interruption.status();
}

const GROUPS_UNDER_WAY = 3;

export interface LoadState {
  written: number;
  kept: number;
  /** Every row up to this line is in the table, or was left out on purpose. */
  line: number;
}

/**
 * Writes a file's rows to its table, all but those that `checkFiles` found invalid.
 * @param state kept up to date, so that it says where an interrupted or failed load was
 * @throws {Error} when a write fails for good, or the file has changed since it was checked
 */
export async function loadRows(
  checked: CheckedFile,
  writeGroup: WriteGroup,
  state: LoadState,
  signal: AbortSignal,
): Promise<void> {
  const { file, rows, invalid, seen } = checked;
  const progress = defineProgress(`Loading ${file}`, rows - invalid);
  const underWay: Promise<void>[] = [];
  let group: Entry[] = [];
  let left = 0;

  function isWanted(row: Row): row is Row & { entry: Entry } {
    const isValid = 'entry' in row && seen.firstLine(row.entry.id) === row.line;
    if (!isValid) left += 1;
    if (left > invalid)
      throw new Error(`${file} has changed since it was checked, at line ${row.line}.`);
    return isValid;
  }

  async function write(entries: readonly Entry[], line: number, before?: Promise<void>) {
    if (entries.length > 0) {
      const { written, kept } = await writeGroup(entries.map(({ item }) => item));
      state.written += written;
      state.kept += kept;
    }
    progress.update(state.written + state.kept);
    await before;
    state.line = line;
  }

  async function start(line: number): Promise<void> {
    const writing = write(group, line, underWay.at(-1));
    // It is awaited later, which handles its failure.
    writing.catch(() => {});
    underWay.push(writing);
    group = [];
    if (underWay.length >= GROUPS_UNDER_WAY) await underWay.shift();
  }

  try {
    let line = 0;
    for await (const page of readRows(checked)) {
      for (const row of page.rows) {
        line = row.line;
        if (isWanted(row)) group.push(row.entry);
        if (group.length === GROUP_SIZE) await start(line);
        signal.throwIfAborted();
      }
    }
    await start(line);
    await Promise.all(underWay);
  } finally {
    await Promise.allSettled(underWay);
    progress.clear();
  }
}
