import { createWriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { toJson } from '../../../shared/contract/json.ts';
import { type Item, type Resource, resources } from '../../cli/bulk/resources.ts';
import { retry } from '../../cli/bulk/tableWriters.ts';
import type { commands } from '../../cli/commands.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { escapeControls, log, print, toCount } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { defineProgress } from '../../cli/progress.ts';
import { defineReport } from './checkFile.ts';
import { type OpenFile, openTables, parseFiles, STANDARD_OUTPUT, saveMemory } from './dataFile.ts';
import { openSortedRows } from './sortedRows.ts';

export async function runExport(options: OptionValues<typeof commands.export>): Promise<void> {
  const files = parseFiles(options, 'output');
  using _memory = saveMemory();
  const targets = await openTables(files, options);
  const say = files.some(({ file }) => file === STANDARD_OUTPUT) ? log : print;
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  for (const target of targets) {
    const { name, file } = target;
    try {
      const { rows, invalid } = await exportRows(target, signal);
      const missing = invalid > 0 ? `; ${toCount(invalid, 'invalid record')} left out` : '';
      say(`${name}: ${toCount(rows, 'row')} to ${file}${missing}.`);
      if (invalid > 0) process.exitCode = 1;
    } catch (error) {
      if (!signal.aborted) throw explainFullDisk(error as Error, file);
      log(`Interrupted; ${name} is not saved.`);
      process.exitCode = status();
      return;
    }
  }
}

/** DuckDB's own error advises on its settings. */
function explainFullDisk(error: Error, file: string): Error {
  if (!error.message.includes('max_temp_directory_size')) return error;
  return new Error(`${file} is unchanged: there is no room for its temporary folder.`);
}

/** The entries of a page: those of 1 MB of the inventory would take 20 MB here. */
const Limit = 5_000;

/**
 * Writes every valid entry of a table to a file, sorted by id, and names the others. The scan is strongly consistent,
 * so it has every earlier write.
 * @returns how many entries there are of both
 */
async function exportRows(target: OpenFile, signal: AbortSignal) {
  const { name, file, client, tableName: TableName, itemCount } = target;
  const resource: Resource = resources[name];
  const invalid = defineReport(TableName, 'invalid record');
  const path = file === STANDARD_OUTPUT ? undefined : await realpath(file).catch(() => file);
  await using sorted = await openSortedRows(nameTemporary(path, 'unsorted'), signal);
  let rows = 0;
  {
    using progress = defineProgress(`Reading ${TableName}`);
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      signal.throwIfAborted();
      const page = new ScanCommand({ TableName, ConsistentRead: true, Limit, ExclusiveStartKey });
      const { Items = [], LastEvaluatedKey } = await retry(() => client.send(page), signal);
      const lines: string[] = [];
      for (const item of Items) {
        try {
          lines.push(formatRow(resource, item));
        } catch (error) {
          const problem = (error as Error).message;
          const advice = 'It is left out: import a row for it with --overwrite, or delete it.';
          invalid.add(undefined, `${problem} ${advice}`);
        }
      }
      await sorted.add(lines);
      rows += lines.length;
      progress.report(rows, itemCount > 0 ? rows / itemCount : 0);
      ExclusiveStartKey = LastEvaluatedKey;
    } while (ExclusiveStartKey);
  }
  const count = invalid.end();
  // An export that has nothing must not replace one that has.
  if (rows === 0 && count > 0) throw new Error(`${file} is unchanged: no record is valid.`);
  const header = resource.columns ? `${resource.columns.join()}\n` : '';
  await writeContent(file, path, sorted.read(header), signal);
  return { rows, invalid: count };
}

/** @throws {Error} that names an invalid record */
function formatRow({ columns, toMembers }: Resource, item: Item): string {
  const members = toMembers(item) as Record<string, unknown>;
  if (!columns) return escapeControls(toJson(members));
  // No field has a comma, a quote or a line end.
  return columns.map((column) => members[column]).join();
}

/** Beside the file, where there is room for it; in the system's folder for standard output. */
function nameTemporary(path: string | undefined, ending: string): string {
  const [folder, name] = path ? [dirname(path), basename(path)] : [tmpdir(), 'petstore'];
  return join(folder, `.${name}.${process.pid}.${ending}`);
}

/**
 * Writes a temporary file, and renames it once it is complete and on the disk. A reader sees the old file or the
 * new one, never a part. A failure leaves nothing behind. A link stays, and its file is replaced.
 */
async function writeContent(
  file: string,
  path: string | undefined,
  content: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  if (path === undefined) return pipeline(content, process.stdout, { signal, end: false });
  const unfinished = nameTemporary(path, 'unfinished');
  try {
    // Never over another file, and readable by its owner alone.
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(content, target, { signal });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    // The system's error for a full disk does not name the file.
    throw new Error(`${file} is unchanged: ${(error as Error).message}`);
  }
}
