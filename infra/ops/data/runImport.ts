import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Item } from '../../bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  GROUP_SIZE,
  type WriteGroup,
} from '../../bulk/tableWriters.ts';
import { commands } from '../../cli/commands.ts';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { print, tell } from '../../cli/output.ts';
import { defineProgress, toCount, toTime } from '../../cli/progress.ts';
import { UsageError } from '../../cli/usage.ts';
import { tables } from '../../stages/tables.ts';
import { type CheckedFile, checkFiles } from './checkRows.ts';
import { copyInput, parseFiles, readRows } from './dataFile.ts';
import { openDataTable } from './dataOptions.ts';
import { checkNamedFiles } from './writeContent.ts';

/** The exit status of an import that left out invalid rows. */
const LEFT_OUT = 3;

export async function runImport(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: commands.import.options }).values;
  const { overwrite = false, rejects, stage, 'dry-run': isDryRun } = options;
  const typed = parseFiles(options);
  const maxWcu = parseMaxWcu(options['max-wcu']);
  if (rejects !== undefined && (rejects === '-' || typed.length > 1)) {
    throw new UsageError('--rejects must name a file, for the rows of one data file.');
  }
  checkNamedFiles(typed, rejects === undefined ? [] : [{ name: 'rejects', file: rejects }]);
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
    const files = await checkFiles(readable, options, signal);
    if (files.some(({ invalid }) => invalid > 0)) process.exitCode = LEFT_OUT;
    for (const file of isDryRun ? files : []) printDryRun(file, options.json);
    if (isDryRun) return;
    for (const [index, file] of files.entries()) {
      await load(file, writers[index] as WriteGroup, options, signal);
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

function printDryRun(checked: CheckedFile, json: boolean | undefined): void {
  const { name, file, rows, invalid } = checked;
  const valid = `${toCount(rows - invalid)} of ${toCount(rows, 'row')} in ${file} are valid`;
  print(json ? toJson(checked, 0, 0) : `${name}: ${valid}; nothing was written.`);
}

function toJson({ name, file, rows, invalid }: CheckedFile, written: number, kept: number): string {
  return JSON.stringify({ table: name, file, rows, invalid, written, kept });
}

const GROUPS_UNDER_WAY = 3;

/** Writes the valid rows of a file to its table. */
async function load(
  checked: CheckedFile,
  writeGroup: WriteGroup,
  { overwrite, json }: { readonly overwrite?: boolean; readonly json?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { name, file, rows, invalid, seen } = checked;
  const progress = defineProgress(`Loading ${file}`, rows - invalid);
  const started = performance.now();
  const underWay: Promise<void>[] = [];
  let group: Item[] = [];
  let done = 0;
  let written = 0;

  async function write(items: readonly Item[]): Promise<void> {
    const count = await writeGroup(items);
    written += count;
    done += items.length;
    progress.update(done);
  }

  async function start(): Promise<void> {
    const writing = write(group);
    // A failure is handled later, when it is awaited.
    writing.catch(() => {});
    underWay.push(writing);
    group = [];
    if (underWay.length >= GROUPS_UNDER_WAY) await underWay.shift();
  }

  try {
    for await (const page of readRows(checked)) {
      for (const row of page.rows) {
        signal.throwIfAborted();
        const isFirst = 'entry' in row && seen.firstLine(row.entry.key) === row.line;
        if (isFirst) group.push(row.entry.item);
        if (group.length === GROUP_SIZE) await start();
      }
    }
    await start();
    await Promise.all(underWay);
  } catch (error) {
    await Promise.allSettled(underWay);
    progress.clear();
    tell(
      `${toCount(written, 'row')} of ${file} were written; run the same command again to load the rest.`,
    );
    throw error;
  }
  progress.clear();
  if (json) return print(toJson(checked, written, done - written));
  const seconds = (performance.now() - started) / 1_000;
  const figures = [
    `${toCount(written)} ${overwrite ? 'written' : 'added'}`,
    ...(overwrite ? [] : [`${toCount(done - written)} there already and kept`]),
    ...(invalid > 0 ? [`${toCount(invalid)} not valid and left out`] : []),
  ];
  print(
    `${name}: ${toCount(rows, 'row')} in ${file}: ${figures.join(', ')}; ` +
      `${toTime(seconds)}, ${toCount(done / seconds, 'row')}/s.`,
  );
}
