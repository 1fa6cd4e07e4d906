import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { parseDuration } from '../../cli/duration.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { toCount, toTime } from '../../cli/progress.ts';
import { UsageError } from '../../cli/usage.ts';
import {
  checkDataTables,
  type DataTableOptions,
  dataTableFlags,
  dataTableHelp,
  openDataTables,
} from './dataTableOption.ts';
import { exportRows } from './exportRows.ts';
import {
  type DataSource,
  type FileOptions,
  isStandardStream,
  parseFiles,
} from './files/dataSource.ts';

const help = `npm run export -- [--inventory FILE] [--pets FILE] [--orders FILE] [options]

Writes a stage's tables to data files, which npm run import loads again. Rows are sorted by id, so the
same data gives the same file. A file that is there already is replaced once the new one is whole.

Files:
  --inventory FILE.csv|.jsonl
  --pets FILE.jsonl
  --orders FILE.jsonl
  each may be gzip (.csv.gz, .jsonl.gz); one may be -, standard output, with CSV of the inventory, else
  JSON Lines: npm run -s export, or npm's own lines stand before it

${dataTableHelp}
Options:
  --give-up-after 60s             how long to go on when a table throttles or cannot be reached
`;

const flags = {
  ...dataTableFlags,
  inventory: { type: 'string' },
  pets: { type: 'string' },
  orders: { type: 'string' },
  'give-up-after': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies ParseArgsConfig['options'];

/** Writes tables to data files. @throws {UsageError} when what was typed makes no sense */
export async function runExport(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: flags }).values;
  if (options.help) process.stdout.write(help);
  else await run(options);
}

async function run(
  options: DataTableOptions & FileOptions & { 'give-up-after'?: string },
): Promise<void> {
  const targets = parseFiles(options);
  const giveUpAfter = parseDuration('--give-up-after', options['give-up-after'] ?? '60s');
  checkDataTables(options);
  for (const target of targets) if (!isStandardStream(target)) await checkWritable(target);
  const report = targets.some(isStandardStream) ? process.stderr : process.stdout;
  const { client, tableNames } = await openDataTables(
    options,
    targets.map(({ name }) => name),
  );
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  for (const target of targets) {
    const started = performance.now();
    try {
      const table = { client, tableName: tableNames[target.name], giveUpAfter, signal };
      const rows = await exportRows(target, table);
      const time = toTime((performance.now() - started) / 1_000);
      report.write(`${target.name}: ${toCount(rows, 'row')} to ${target.file}; ${time}.\n`);
    } catch (error) {
      if (!signal.aborted) throw error;
      const state = isStandardStream(target)
        ? 'its table is not whole'
        : `${target.file} was left as it was`;
      // Whoever reads no more knows.
      if (status() !== 141) process.stderr.write(`Interrupted; ${state}.\n`);
      process.exitCode = status();
      return;
    }
  }
}

/** @throws {UsageError} when the file cannot be written where it is to be */
async function checkWritable({ name, file }: DataSource): Promise<void> {
  const existing = await stat(file).catch(() => undefined);
  if (existing && !existing.isFile()) {
    throw new UsageError(`--${name} must name a file; "${file}" is none.`);
  }
  try {
    await access(dirname(file), constants.W_OK);
  } catch (error) {
    throw new UsageError(`--${name} cannot be written: ${(error as Error).message}.`);
  }
}
