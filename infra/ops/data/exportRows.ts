import { type AttributeValue, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { toJson } from '../../../shared/contract/values.ts';
import { resources } from '../../bulk/resources.ts';
import { type Patience, retry } from '../../bulk/retry.ts';
import { defineProgress } from '../../cli/progress.ts';
import { toCsvLine } from './files/csv.ts';
import { type DataSource, isStandardStream } from './files/dataSource.ts';
import { printContent } from './files/printContent.ts';
import { replaceFile } from './files/replaceFile.ts';
import { defineSortedLines } from './files/sortedLines.ts';

export interface ScannedTable extends Patience {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/**
 * Writes every entry of a table to a file, or to standard output, in the order of the ids, and returns how many there are.
 * The scan is strongly consistent, so that what was written before it is in it.
 */
export async function exportRows(target: DataSource, table: ScannedTable): Promise<number> {
  const { name, file, format } = target;
  const { columns = [], idName, toMembers } = resources[name];
  const progress = defineProgress(`Reading ${table.tableName}`, undefined);
  const sorted = defineSortedLines();
  let rows = 0;
  try {
    let next: Record<string, AttributeValue> | undefined;
    do {
      table.signal.throwIfAborted();
      const page = new ScanCommand({
        TableName: table.tableName,
        ConsistentRead: true,
        ExclusiveStartKey: next,
      });
      const { Items = [], LastEvaluatedKey } = await retry(() => table.client.send(page), table);
      for (const item of Items) {
        const members = toMembers(item);
        const line =
          format === 'csv' ? toCsvLine(columns.map((name) => members[name])) : toJson(members);
        sorted.add(BigInt(members[idName] as bigint), line);
      }
      rows += Items.length;
      progress.update(rows);
      next = LastEvaluatedKey;
    } while (next);
    progress.clear();
    const content = toContent(format === 'csv' ? toCsvLine(columns) : undefined);
    if (isStandardStream(target)) await printContent(content, table.signal);
    else await replaceFile(file, content, table.signal);
    return rows;
  } finally {
    progress.clear();
    sorted.close();
  }

  function* toContent(header: string | undefined): Generator<string> {
    if (header !== undefined) yield `${header}\n`;
    yield* sorted.read();
  }
}
