import { DescribeTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { InventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { writeOut } from '../../cli/output.ts';
import { openTable } from '../../cli/tableOption.ts';
import { toTableOutput } from '../../stages/resourceNames.ts';
import { type CostOptions, parseCostStage } from './costOptions.ts';

/**
 * Describes a stage's entries by a sample of its table.
 * @throws {UsageError} when the stage is none
 * @throws {Error} when the table cannot be read, or is empty
 */
export async function runMeasure(options: CostOptions<'measure'>): Promise<void> {
  const { name: stage } = parseCostStage(options);
  const { client, tableName } = await openTable(toTableOutput('inventory'), { stage });
  // A scan reads in the order of hashes, so its first page is a random sample.
  const sample = await client.send(new ScanCommand({ TableName: tableName, Limit: 3_000 }));
  const records = (sample.Items ?? []) as unknown as InventoryRecord[];
  if (records.length === 0) throw new Error(`The table ${tableName} has no entries to measure.`);
  const digits = records.reduce((sum, { p }) => sum + p.N.replace('-', '').length, 0);
  const tagged = records.filter(({ v }) => v).length;
  const idDigits = Number((digits / records.length).toFixed(1));
  const taggedShare = Number((tagged / records.length).toFixed(2));
  if (options.json) return writeOut(`${JSON.stringify({ [stage]: { idDigits, taggedShare } })}\n`);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const entries = Number(Table?.ItemCount).toLocaleString('en-US');
  await writeOut(`Read ${records.length} of the ${entries} entries of ${stage} (DynamoDB counts them every six hours).
Their ids have ${idDigits} digits on average. ${Math.round(100 * taggedShare)} % have been updated, and so have a version.
For infra/costs/sizes.json:
  "${stage}": { "idDigits": ${idDigits}, "taggedShare": ${taggedShare} }
`);
}
