import { basename } from 'node:path';
import { type Resource, resources } from '../../cli/bulk/resources.ts';
import { BATCH_SIZE, defineWriteRate, workThrough } from '../../cli/bulk/tableWriters.ts';
import type { commands } from '../../cli/commands.ts';
import { confirm } from '../../cli/confirm.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { log, print, toCount } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { defineProgress } from '../../cli/progress.ts';
import { UsageError } from '../../cli/usage.ts';
import { checkFile, defineReport, readBatches } from './checkFile.ts';
import {
  type DataFile,
  type OpenFile,
  openTables,
  parseFiles,
  readRows,
  saveMemory,
} from './dataFile.ts';
import { defineFingerprints } from './fingerprints.ts';
import { defineLoad, type LoadOptions, type Outcome, toContents } from './loadBatch.ts';

type ImportOptions = OptionValues<typeof commands.import>;

export async function runImport(options: ImportOptions): Promise<void> {
  const { overwrite = false, 'max-wcu': maxWcu, 'dry-run': isDryRun = false } = options;
  const { 'overwrite-if-unchanged': earlierFile } = options;
  const files = parseFiles(options, 'input');
  const [first, ...others] = files;
  if (
    earlierFile !== undefined &&
    (overwrite || first?.name !== 'inventory' || others.length > 0)
  ) {
    throw new UsageError(
      '--overwrite-if-unchanged takes an export of the inventory: give --inventory alone, without --overwrite.',
    );
  }
  using _memory = saveMemory();
  const sources = await openTables(files, options);
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal } = interruption;
  if (!isDryRun && overwrite && !(await confirmOverwrite(options, files))) {
    return print('Nothing was changed.');
  }
  try {
    const earlier = earlierFile === undefined ? undefined : await readEarlier(earlierFile, signal);
    const checked: CheckedFile[] = [];
    for (const source of sources) {
      checked.push({ ...source, ...(await checkFile(source, signal)) });
    }
    const invalid = checked.reduce((sum, one) => sum + one.invalid, 0);
    const rounded = checked.reduce((sum, one) => sum + one.rounded, 0);
    if (invalid > 0) {
      throw new Error(`Nothing was written, because of ${toCount(invalid, 'invalid row')}.`);
    }
    if (!isDryRun && rounded > 0 && !(await confirmRounded(options, rounded))) {
      return print('Nothing was changed.');
    }
    const takeUnits = maxWcu === undefined ? undefined : defineWriteRate(maxWcu, signal);
    for (const one of checked) await load(one, { overwrite, isDryRun, earlier, takeUnits, signal });
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = interruption.status();
  }
}

async function confirmOverwrite({ stage, yes }: ImportOptions, files: readonly DataFile[]) {
  const loss = 'Sales since a file was made are lost; --overwrite-if-unchanged keeps them.';
  if (stage === undefined || yes) {
    log(loss);
    return true;
  }
  const names = files.map(({ name }) => name).join(' and ');
  return confirm(`${loss} Replace what the ${stage.name} stage has of ${names} permanently?`);
}

/** @throws {UsageError} without a terminal */
async function confirmRounded({ yes }: ImportOptions, count: number): Promise<boolean> {
  const problem = `${toCount(count, 'id')} ${count === 1 ? 'looks' : 'look'} rounded, as a spreadsheet or JSON.parse does.`;
  if (yes) return true;
  if (process.stdin.isTTY) return confirm(`${problem} Import all the same?`);
  throw new UsageError(
    `${problem} Nothing was written. Export the file with ids as text, or add --yes if they are right.`,
  );
}

/** The contents of an earlier export, eight bytes for each. @throws {Error} when it has an invalid row */
async function readEarlier(file: string, signal: AbortSignal) {
  const contents = defineFingerprints();
  for await (const rows of readRows({ name: 'inventory', file }, signal, 'Reading')) {
    for (const { line, entry, problem } of rows) {
      if (!entry) throw new Error(`${file}:${line}: ${problem}.`);
      contents.add(toContents(resources.inventory as Resource, entry.item));
    }
  }
  contents.sort();
  return contents;
}

type CheckedFile = OpenFile & Awaited<ReturnType<typeof checkFile>>;

async function load(source: CheckedFile, options: LoadOptions): Promise<void> {
  const { name, file, rows } = source;
  const { signal, isDryRun, earlier } = options;
  const counts: Record<Outcome, number> = { new: 0, replaced: 0, kept: 0, unchanged: 0 };
  const kept = defineReport(file, 'kept row');
  let done = 0;
  try {
    using progress = defineProgress(`${isDryRun ? 'Comparing' : 'Loading'} ${basename(file)}`);
    const loadBatch = await defineLoad(source, options);
    await workThrough(readBatches(source, BATCH_SIZE, signal), async (entries) => {
      const outcomes = await loadBatch(entries);
      for (const outcome of Object.keys(counts) as Outcome[]) {
        counts[outcome] += outcomes[outcome].length;
      }
      for (const { key } of earlier ? outcomes.kept : []) {
        kept.add(undefined, `${key} has changed since the export, and is kept.`);
      }
      done += entries.length;
      progress.report(done, done / rows);
    });
  } catch (error) {
    if (!isDryRun) {
      const written = toCount(counts.new + counts.replaced, 'row');
      log(`${written} of ${file} were written; run the same command again to load the rest.`);
    }
    throw error;
  }
  kept.end();
  const parts = Object.entries(counts).map(([outcome, count]) => `${toCount(count)} ${outcome}`);
  const end = isDryRun ? '; nothing was written.' : '.';
  print(`${name}: ${toCount(rows, 'row')} in ${file}: ${parts.join(', ')}${end}`);
}
