import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { tell } from '../../cli/output.ts';
import { toTime } from '../../cli/progress.ts';
import { toSecond } from '../../cli/time.ts';
import type { TableName } from '../../stages/tables.ts';

/** A table as it was at a time, restored into a table of its own. */
export interface TableRestore {
  readonly name: TableName;
  readonly source: string;
  /** Named by the time, so that the same command finds it again after an interruption. */
  readonly target: string;
  readonly time: Date;
}

/** Starts the restores that were not started yet, once it is certain that every table can be restored. */
export async function startRestores(
  client: DynamoDBClient,
  restores: readonly TableRestore[],
): Promise<void> {
  const missing: TableRestore[] = [];
  for (const restore of restores) {
    const table = await describeTable(client, restore.target);
    if (table) checkIsRestore(restore, table);
    else await checkRestorable(client, restore);
    if (!table) missing.push(restore);
  }
  for (const { source, target, time } of missing) {
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: source,
        TargetTableName: target,
        RestoreDateTime: time,
      }),
    );
    tell(`Restoring ${source} as of ${toSecond(time)} into ${target}; that may take hours.`);
  }
}

/** The latest second that all of the tables can be restored to, some five minutes ago. */
export async function readLatest(
  client: DynamoDBClient,
  sources: readonly string[],
): Promise<Date> {
  const windows = await Promise.all(sources.map((source) => readWindow(client, source)));
  const seconds = windows.map(({ latest }) => Math.floor(latest.getTime() / 1_000));
  return new Date(Math.min(...seconds) * 1_000);
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

/** @throws {Error} when the table that goes by the target's name is something else */
function checkIsRestore(
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

/**
 * Refuses a time that the table cannot be restored to.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
 * @throws {Error} that says which times it can be restored to
 */
async function checkRestorable(
  client: DynamoDBClient,
  { name, source, time }: TableRestore,
): Promise<void> {
  const { earliest, latest } = await readWindow(client, source);
  if (time > latest) {
    const wait = toTime((time.getTime() - latest.getTime()) / 1_000);
    throw new Error(
      `Nothing was restored: the latest that ${source} can be restored to is ${toSecond(latest)} now. Run this again in ${wait} minutes, or with --at latest.`,
    );
  }
  if (time < earliest) {
    throw new Error(
      `Nothing was restored: the earliest that ${source} can be restored to is ${toSecond(earliest)}. An earlier table of ${name}, if there is one, goes further back: --from NAME.`,
    );
  }
}

/** @throws {Error} when the table is not there, or has no point-in-time recovery */
async function readWindow(client: DynamoDBClient, source: string) {
  try {
    const { ContinuousBackupsDescription: backups } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName: source }),
    );
    const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } =
      backups?.PointInTimeRecoveryDescription ?? {};
    if (earliest && latest) return { earliest, latest };
  } catch (error) {
    if ((error as Error).name !== 'TableNotFoundException') throw error;
    throw new Error(
      `Nothing was restored: there is no table ${source}. If it was deleted, see "A deleted table" in infra/RUNBOOK.md.`,
    );
  }
  throw new Error(
    `Nothing was restored: ${source} has no point-in-time recovery, which only a stage with protectsData has. npm run import loads an export.`,
  );
}
