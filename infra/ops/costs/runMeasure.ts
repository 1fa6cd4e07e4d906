import { DescribeTableCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { InventoryRecord } from '../../../shared/store/inventoryRecord.ts';
import { writeOut } from '../../cli/output.ts';
import { parseStage } from '../../cli/stageOption.ts';
import { openTable } from '../../cli/tableOption.ts';
import { toTableOutput } from '../../stages/resourceNames.ts';
import type { CostOptions } from './costOptions.ts';

/**
 * Prints what a stage's entries are like, by a sample of its table.
 * @throws {UsageError} when the stage is none
 * @throws {Error} when the table cannot be read, or is empty
 */
export async function runMeasure(options: CostOptions): Promise<void> {
  const { name: stage } = parseStage(options.stage ?? 'production');
  const { client, tableName } = await openTable(toTableOutput('inventory'), { stage });
  const records = await readSample(client, tableName);
  if (records.length === 0) throw new Error(`The table ${tableName} has no entries to measure.`);
  const digits = records.map(({ p }) => p.N.replace('-', '').length);
  const idDigits = toRounded(digits.reduce((sum, one) => sum + one, 0) / records.length, 1);
  const taggedShare = toRounded(records.filter(({ v }) => v).length / records.length, 2);
  if (options.json) return writeOut(`${JSON.stringify({ [stage]: { idDigits, taggedShare } })}\n`);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: tableName }));
  const [all, read] = [Table?.ItemCount ?? 0, records.length].map((one) =>
    one.toLocaleString('en-US'),
  );
  const lines = [
    `Of ${all} entries of ${stage}, as DynamoDB counts every six hours, ${read} were read.`,
    `Their ids have ${idDigits} digits on average, and ${Math.round(100 * taggedShare)} % were ever updated, and so have a version.`,
    'For infra/costs/sizes.json:',
    `  "${stage}": { "idDigits": ${idDigits}, "taggedShare": ${taggedShare} }`,
  ];
  await writeOut(`${lines.join('\n')}\n`);
}

/** A scan reads in the order of the keys' hashes, so that its first pages are as good as any. */
const PAGES = 3;
const ENTRIES_OF_A_PAGE = 1_000;

async function readSample(client: DynamoDBClient, tableName: string): Promise<InventoryRecord[]> {
  const records: InventoryRecord[] = [];
  let next: Partial<Pick<ScanCommand['input'], 'ExclusiveStartKey'>> = {};
  for (let page = 0; page < PAGES; page += 1) {
    const command = new ScanCommand({ TableName: tableName, Limit: ENTRIES_OF_A_PAGE, ...next });
    const { Items = [], LastEvaluatedKey } = await client.send(command);
    records.push(...(Items as unknown as InventoryRecord[]));
    if (!LastEvaluatedKey) break;
    next = { ExclusiveStartKey: LastEvaluatedKey };
  }
  return records;
}

function toRounded(number: number, digits: number): number {
  return Number(number.toFixed(digits));
}
