import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { type AttributeValue, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { toJson } from '../../../shared/contract/values.ts';
import { resources } from '../../bulk/resources.ts';
import { retry } from '../../bulk/tableWriters.ts';
import { commands } from '../../cli/commands.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { escapeControls, print, tell } from '../../cli/output.ts';
import { defineProgress, toCount, toTime } from '../../cli/progress.ts';
import { type DataFile, isStandardStream, parseFiles } from './dataFile.ts';
import { openDataTable } from './dataOptions.ts';
import { defineSortedLines } from './scratchDatabase.ts';
import { checkNamedFiles, replaceFile } from './writeContent.ts';

export async function runExport(args: string[]): Promise<void> {
  const options = parseArgs({ args, options: commands.export.options }).values;
  const targets = parseFiles(options);
  checkNamedFiles(targets, 'output');
  const report = targets.some(isStandardStream) ? tell : print;
  const opened = await Promise.all(
    targets.map(async (target) => ({ target, table: await openDataTable(options, target.name) })),
  );
  // From here on, Ctrl-C is an orderly end.
  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  for (const { target, table } of opened) {
    const started = performance.now();
    try {
      const { client, tableName } = table;
      const rows = await exportRows(target, client, tableName, signal);
      const time = toTime((performance.now() - started) / 1_000);
      const { name, file } = target;
      report(`${name}: ${toCount(rows, 'row')} to ${file}; ${time}.`);
    } catch (error) {
      if (!signal.aborted) throw error;
      if (status() !== 141) tell(`Interrupted; ${target.name} is not saved.`);
      process.exitCode = status();
      return;
    }
  }
}

/**
 * Writes every entry of a table to a file or to standard output, sorted by id. The scan is strongly consistent, so
 * it has every earlier write.
 * @returns how many there are
 */
async function exportRows(
  target: DataFile,
  client: DynamoDBClient,
  TableName: string,
  signal: AbortSignal,
): Promise<number> {
  const { name, file, format } = target;
  const { columns = [], idName, toMembers } = resources[name];
  using progress = defineProgress(`Reading ${TableName}`, undefined);
  using sorted = defineSortedLines();
  let rows = 0;
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
  do {
    signal.throwIfAborted();
    const page = new ScanCommand({ TableName, ConsistentRead: true, ExclusiveStartKey });
    const { Items = [], LastEvaluatedKey } = await retry(() => client.send(page), signal);
    for (const item of Items) {
      const members = toMembers(item);
      // No field has a comma, a quote or a line end.
      const line =
        format === 'csv'
          ? columns.map((column) => members[column]).join()
          : escapeControls(toJson(members));
      sorted.add(BigInt(members[idName] as bigint), line);
    }
    rows += Items.length;
    progress.update(rows);
    ExclusiveStartKey = LastEvaluatedKey;
  } while (ExclusiveStartKey);
  progress.clear();
  const content = sorted.read(format === 'csv' ? columns.join() : undefined);
  // With backpressure.
  if (isStandardStream(target)) await pipeline(content, process.stdout, { signal, end: false });
  else await replaceFile(file, content, signal);
  return rows;
}
