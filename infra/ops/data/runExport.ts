import { createWriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { toJson } from '../../../shared/contract/json.ts';
import { type Resource, resources } from '../../bulk/resources.ts';
import { retry } from '../../bulk/tableWriters.ts';
import type { commands } from '../../cli/commands.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { defineProgress, escapeControls, print, tell, toCount } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { type OpenFile, openTables, parseFiles } from './dataFile.ts';

export async function runExport(options: OptionValues<typeof commands.export>): Promise<void> {
  const files = parseFiles(options, 'output');
  const targets = await openTables(files, options);
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  for (const target of targets) {
    const { name, file } = target;
    try {
      const rows = await exportRows(target, signal);
      print(`${name}: ${toCount(rows, 'row')} to ${file}.`);
    } catch (error) {
      if (!signal.aborted) throw error;
      tell(`Interrupted; ${name} is not saved.`);
      process.exitCode = status();
      return;
    }
  }
}

/**
 * Writes every entry of a table to a file, sorted by id. The scan is strongly consistent, so it has every earlier
 * write.
 * @returns how many there are
 */
async function exportRows(
  { name, file, client, tableName: TableName }: OpenFile,
  signal: AbortSignal,
): Promise<number> {
  const { columns, idName, toMembers }: Resource = resources[name];
  const onProgress = defineProgress(`Reading ${TableName}`);
  const rows: { readonly id: bigint; readonly line: string }[] = [];
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    signal.throwIfAborted();
    const page = new ScanCommand({ TableName, ConsistentRead: true, ExclusiveStartKey });
    const { Items = [], LastEvaluatedKey } = await retry(() => client.send(page), signal);
    for (const item of Items) {
      const members = toMembers(item) as Record<string, unknown>;
      // No field has a comma, a quote or a line end.
      const line = columns
        ? columns.map((column) => members[column]).join()
        : escapeControls(toJson(members));
      rows.push({ id: BigInt(members[idName] as bigint), line });
    }
    onProgress(rows.length);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
  rows.sort((one, other) => {
    // Orders of one id differ in their time.
    if (one.id === other.id) return one.line < other.line ? -1 : 1;
    return one.id < other.id ? -1 : 1;
  });
  const header = columns ? [`${columns.join()}\n`] : [];
  await replaceFile(file, [...header, ...rows.map(({ line }) => `${line}\n`)], signal);
  return rows.length;
}

/**
 * Writes a temporary file, and renames it once it is complete and on the disk. A reader sees the old file or the
 * new one, never a part. A failure leaves nothing behind. A link stays, and its file is replaced.
 */
async function replaceFile(file: string, content: readonly string[], signal: AbortSignal) {
  const path = await realpath(file).catch(() => file);
  const unfinished = join(dirname(path), `.${basename(path)}.${process.pid}.unfinished`);
  try {
    // Never over another file, and readable by its owner alone.
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    await pipeline(Readable.from(content), target, { signal });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    // The system's error for a full disk does not name the file.
    throw new Error(`${file} is unchanged: ${(error as Error).message}`);
  }
}
