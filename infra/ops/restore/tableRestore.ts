import {
  DescribeTableCommand,
  type DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { toSecond } from '../../cli/instant.ts';
import { toTableName } from '../../stages/resourceNames.ts';
import type { Stage } from '../../stages/stages.ts';
import type { TableName } from '../../stages/tables.ts';
import { type Patience, waitUntil } from './patience.ts';

/** A table as it was at a time, to be had in a table of its own. */
export interface TableRestore {
  readonly name: TableName;
  readonly source: string;
  /** Named by the time, so that the same command finds it again after an interruption. */
  readonly target: string;
  readonly time: Date;
}

export function toTargetName(stage: Stage, name: TableName, time: Date): string {
  return `${toTableName(stage, name)}-${toSecond(time).replace(/[-:]/g, '')}`;
}

/** @returns nothing when there is no such table */
export async function describeTable(
  client: DynamoDBClient,
  tableName: string,
): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: tableName }))).Table;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

export async function startRestore(
  client: DynamoDBClient,
  { source, target, time }: TableRestore,
): Promise<void> {
  await client.send(
    new RestoreTableToPointInTimeCommand({
      SourceTableName: source,
      TargetTableName: target,
      RestoreDateTime: time,
    }),
  );
}

/** @throws {Error} when the table that goes by the target's name is something else */
export function checkIsRestore(
  { source, target, time }: TableRestore,
  { RestoreSummary: summary }: TableDescription,
): void {
  const isFromSource = summary?.SourceTableArn?.endsWith(`:table/${source}`) ?? false;
  const restored = summary?.RestoreDateTime;
  if (isFromSource && restored && toSecond(restored) === toSecond(time)) return;
  throw new Error(
    `There is a table ${target} already, and it was not restored from ${source} as of ${toSecond(time)}.`,
  );
}

/** @throws {Error} when the table goes away instead */
export async function waitUntilActive(
  client: DynamoDBClient,
  { target }: TableRestore,
  patience: Patience,
): Promise<void> {
  let wasSeen = false;
  const isActive = async () => {
    const table = await describeTable(client, target);
    // A new table may not be found at first:
    // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
    if (table?.TableStatus === 'DELETING' || (!table && wasSeen)) {
      throw new Error(`${target} is being deleted, or was.`);
    }
    wasSeen ||= table !== undefined;
    return table?.TableStatus === 'ACTIVE';
  };
  await waitUntil(`Restoring ${target}`, isActive, patience);
}
