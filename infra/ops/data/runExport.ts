import { createWriteStream } from 'node:fs';
import { realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { type AttributeValue, ScanCommand } from '@aws-sdk/client-dynamodb';
import { toJson } from '../../../shared/contract/values.ts';
import { type Resource, resources } from '../../bulk/resources.ts';
import { retry } from '../../bulk/tableWriters.ts';
import type { commands } from '../../cli/commands.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { isGzip } from '../../cli/lines.ts';
import { escapeControls, print, tell } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { defineProgress, toCount, toTime } from '../../cli/progress.ts';
import { type OpenFile, openTables, parseFiles } from './dataFile.ts';
import { openScratchRows } from './scratchRows.ts';

export async function runExport(options: OptionValues<typeof commands.export>): Promise<void> {
  const files = parseFiles(options, 'output');
  const targets = await openTables(files, options);
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  for (const target of targets) {
    const { name, file } = target;
    const started = performance.now();
    try {
      const rows = await exportRows(target, signal);
      const time = toTime((performance.now() - started) / 1_000);
      print(`${name}: ${toCount(rows, 'row')} to ${file}; ${time}.`);
    } catch (error) {
      if (!signal.aborted) throw error;
      tell(`Interrupted; ${name} is not saved.`);
      process.exitCode = status();
      return;
    }
  }
}

/**
 * Writes every entry of a table to a file, sorted by id. The scan is strongly consistent, so
 * it has every earlier write.
 * @returns how many there are
 */
async function exportRows(
  { name, file, client, tableName: TableName }: OpenFile,
  signal: AbortSignal,
): Promise<number> {
  const { columns, idName, toMembers }: Resource = resources[name];
  using progress = defineProgress(`Reading ${TableName}`, undefined);
  using rows = openScratchRows();
  let count = 0;
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    signal.throwIfAborted();
    const page = new ScanCommand({ TableName, ConsistentRead: true, ExclusiveStartKey });
    const { Items = [], LastEvaluatedKey } = await retry(() => client.send(page), signal);
    for (const item of Items) {
      const members = toMembers(item);
      // No field has a comma, a quote or a line end.
      const line = columns
        ? columns.map((column) => members[column]).join()
        : escapeControls(toJson(members));
      count += 1;
      rows.add(BigInt(members[idName] as bigint), count, line);
    }
    progress.update(count);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
  progress.clear();
  function* toContent() {
    if (columns) yield `${columns.join()}\n`;
    for (const line of rows.read()) yield `${line}\n`;
  }
  await replaceFile(file, toContent(), signal);
  return count;
}

/**
 * Writes a temporary file, and renames it once it is complete and on the disk. A reader sees the old file or the
 * new one, never a part. A failure leaves nothing behind. A name that ends in `.gz` is compressed. A link stays, and
 * its file is replaced.
 * @throws {Error} that names the file, when it cannot be written
 * @throws the signal's reason, or what the content threw
 */
export async function replaceFile(file: string, content: Iterable<string>, signal: AbortSignal) {
  const path = await realpath(file).catch(() => file);
  const unfinished = join(dirname(path), `.${basename(path)}.${process.pid}.unfinished`);
  try {
    // Never over another file, and readable by its owner alone.
    const target = createWriteStream(unfinished, { flags: 'wx', mode: 0o600, flush: true });
    const packed = isGzip(file) ? [createGzip()] : [];
    await pipeline([Readable.from(content), ...packed, target], { signal });
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!/^E[A-Z]+$/.test(code)) throw error;
    // The system's error for a full disk does not name the file.
    throw new Error(`${file} cannot be written (${message}), and is unchanged.`);
  }
}
