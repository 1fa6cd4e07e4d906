import type { Item } from '../../bulk/resources.ts';
import {
  defineAddingWriter,
  defineReplacingWriter,
  defineWriteRate,
  type WriteBatch,
  writeAll,
} from '../../bulk/tableWriters.ts';
import type { commands } from '../../cli/commands.ts';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { defineProgress, print, tell, toCount, toPlain } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { tables } from '../../stages/tables.ts';
import { type DataFile, type OpenFile, openTables, parseFiles, readRows } from './dataFile.ts';

export async function runImport(options: OptionValues<typeof commands.import>): Promise<void> {
  const { overwrite = false, stage, 'max-wcu': maxWcu } = options;
  const files = parseFiles(options, 'input');
  const sources = await openTables(files, options);
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal } = interruption;
  const takeUnits = maxWcu === undefined ? undefined : defineWriteRate(maxWcu, signal);
  if (overwrite && stage !== undefined && !options.yes) {
    const names = files.map(({ name }) => name).join(' and ');
    const question = `Replace what the ${stage.name} stage has of ${names}, for good?`;
    if (!(await confirm(question))) return print('Nothing was changed.');
  }
  try {
    const checked: CheckedFile[] = [];
    let problems = 0;
    for (const source of sources) {
      const { rows, invalid } = await checkRows(source, signal);
      checked.push({ ...source, rows });
      problems += invalid;
    }
    if (problems > 0) {
      throw new Error(`Nothing was written, because of ${toCount(problems, 'invalid row')}.`);
    }
    for (const one of checked) {
      const table = { ...one, takeUnits, signal };
      const keyName = tables[one.name].partitionKey.name;
      const write = overwrite ? defineReplacingWriter(table) : defineAddingWriter(table, keyName);
      await load(one, write);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = interruption.status();
  }
}

interface CheckedFile extends OpenFile {
  /** The items as JSON, which takes less memory. */
  readonly rows: readonly string[];
}

/** How many invalid rows of a file are reported one by one. */
const MAX_SHOWN = 20;

/** Collects the valid rows of a file, and reports the invalid ones. */
async function checkRows(source: DataFile, signal: AbortSignal) {
  const { file } = source;
  const onProgress = defineProgress(`Checking ${file}`);
  const lineOf = new Map<string, number>();
  const rows: string[] = [];
  let count = 0;
  let invalid = 0;

  function report(line: number, problem: string): void {
    invalid += 1;
    // The problem may quote the file.
    if (invalid <= MAX_SHOWN) tell(`${file}:${line}: ${toPlain(problem)}`);
  }

  for await (const { line, entry, problem } of readRows(source, signal)) {
    count += 1;
    onProgress(count);
    if (!entry) {
      report(line, problem);
      continue;
    }
    const { key, item } = entry;
    const first = lineOf.get(key);
    if (first !== undefined) report(line, `${key} is already in line ${first}`);
    lineOf.set(key, first ?? line);
    rows.push(JSON.stringify(item));
  }
  if (invalid > MAX_SHOWN) tell(`… and ${toCount(invalid - MAX_SHOWN, 'more invalid row')}.`);
  return { rows, invalid };
}

async function load({ name, file, rows }: CheckedFile, write: WriteBatch): Promise<void> {
  const count = toCount(rows.length, 'row');
  const onProgress = defineProgress(`Loading ${count} of ${file}`);
  let done = 0;
  let written = 0;
  try {
    const items = rows.values().map((text): Item => JSON.parse(text));
    await writeAll(items, write, (batch, ofBatch) => {
      done += batch;
      written += ofBatch;
      onProgress(done);
    });
  } catch (error) {
    tell(
      `${toCount(written, 'row')} of ${file} were written; run the same command again to load the rest.`,
    );
    throw error;
  }
  print(
    `${name}: ${count} in ${file}: ${toCount(written)} written, ${toCount(done - written)} kept as they were.`,
  );
}
