import { setTimeout } from 'node:timers/promises';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { isOutage } from '../../../shared/runtime/dynamodb.ts';
import type { commands } from '../../cli/commands.ts';
import { toErrorLine } from '../../cli/errorLine.ts';
import { listenForInterruption } from '../../cli/interruption.ts';
import { tell, writeResult } from '../../cli/output.ts';
import type { OptionValues } from '../../cli/program.ts';
import { readOutput, readStack } from '../../cli/stageStack.ts';
import { toNames, toTableOutput, toTags } from '../../stages/resourceNames.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { type TableDefinition, type TableName, tableNames, tables } from '../../stages/tables.ts';

/** A table at a point in time, restored into a new table. */
interface TableRestore {
  readonly name: TableName;
  readonly source: string;
  /** Named by the time, so that the same command finds it again after an interruption. */
  readonly target: string;
}

export async function runRestore(values: OptionValues<typeof commands.restore>): Promise<void> {
  const { stage } = values;
  const names = tableNames.filter((name) => values.table.includes(name));
  const stack = await readStack(stage);
  const client = stack.open(DynamoDBClient);
  // The stack knows the tables in use, which may be restored ones.
  const sources = names.map((name) => readOutput(stack, toTableOutput(name)));
  // Also for another time: otherwise DynamoDB could refuse one table after another restore has begun.
  const latest = await readLatest(client, sources);
  const time = values.at === 'latest' ? latest : values.at;
  const suffix = toSecond(time).replace(/[-:]/g, '');
  const restores = names.map((name, index): TableRestore => {
    const target = `${toNames(stage).toTable(name)}-${suffix}`;
    return { name, source: sources[index] ?? '', target };
  });
  for (const restore of restores) await startRestore(client, stage, restore, time);

  using interruption = listenForInterruption();
  const { signal, status } = interruption;
  try {
    for (const restore of restores) await finishRestore(client, stage, restore, signal);
  } catch (error) {
    tell(`The restore goes on. To follow it, run the same command with --at ${toSecond(time)}.`);
    if (!signal.aborted) throw error;
    process.exitCode = status();
    return;
  }
  const text = toNextSteps(stage, restores, time);
  if (values.json) tell(text);
  await writeResult(values, { stage: stage.name, time: toSecond(time), tables: restores }, text);
}

/**
 * The latest second to which all tables can be restored, about five minutes ago.
 * @throws {Error} when one of them cannot be restored to any
 */
async function readLatest(client: DynamoDBClient, sources: readonly string[]): Promise<Date> {
  const times = sources.map(async (TableName) => {
    const response = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
    const recovery = response.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
    const latest = recovery?.LatestRestorableDateTime;
    if (latest) return Math.floor(latest.getTime() / 1_000);
    throw new Error(
      `Nothing is restored: point-in-time recovery is off for ${TableName}, as on a stage without protectsData. npx petstore import loads an export.`,
    );
  });
  return new Date(Math.min(...(await Promise.all(times))) * 1_000);
}

/** Starts a restore that was not started yet. @throws {Error} when AWS cannot restore it to that time */
async function startRestore(
  client: DynamoDBClient,
  { settings }: Stage,
  { name, source, target }: TableRestore,
  time: Date,
): Promise<void> {
  const table = await describeTable(client, target);
  if (!table) {
    const { read, write } = settings.maximumUnitsPerSecond[name];
    const command = new RestoreTableToPointInTimeCommand({
      SourceTableName: source,
      TargetTableName: target,
      RestoreDateTime: time,
      OnDemandThroughputOverride: { MaxReadRequestUnits: read, MaxWriteRequestUnits: write },
    });
    await client.send(command);
    tell(`Restoring ${source} as of ${toSecond(time)} into ${target}; that may take hours.`);
  } else if (!table.RestoreSummary?.SourceTableArn?.endsWith(`:table/${source}`)) {
    throw new Error(`There is a table ${target} already, and it was not restored from ${source}.`);
  }
}

const POLL_MILLISECONDS = 10_000;

/** Errors of a table during another change. */
const passing = ['ResourceInUseException', 'ContinuousBackupsUnavailableException'];

/**
 * Polls the new table until it is restored and has what it lacks, for hours if necessary. Retries after an
 * outage. The SDK's `waitUntilTableExists` does not fit: it continues with expired credentials.
 * @throws any other failure, or the signal's reason
 */
async function finishRestore(
  client: DynamoDBClient,
  stage: Stage,
  { name, target }: TableRestore,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      // A new table may not be found at first:
      // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
      const table = await describeTable(client, target);
      if (table?.TableStatus === 'ACTIVE') return await setUpTable(client, stage, name, table);
    } catch (error) {
      if (!isOutage(error) && !passing.includes((error as Error).name)) throw error;
      if (isOutage(error)) tell(`Trying again: ${toErrorLine(error)}`);
    }
    await setTimeout(POLL_MILLISECONDS, undefined, { signal });
  }
}

/**
 * Gives a restored table those settings of the stack that a restore does not copy:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
 */
async function setUpTable(
  client: DynamoDBClient,
  stage: Stage,
  name: TableName,
  { TableName, TableArn, DeletionProtectionEnabled }: TableDescription,
): Promise<void> {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
  await client.send(
    new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }),
  );
  const { timeToLive: AttributeName }: TableDefinition = tables[name];
  if (AttributeName !== undefined) {
    // To turn it on twice is an error.
    const { TimeToLiveDescription } = await client.send(
      new DescribeTimeToLiveCommand({ TableName }),
    );
    if (TimeToLiveDescription?.TimeToLiveStatus === 'DISABLED') {
      const TimeToLiveSpecification = { Enabled: true, AttributeName };
      await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    }
  }
  // Cost reports are split by tags.
  const Tags = Object.entries(toTags(stage)).map(([Key, Value]) => ({ Key, Value }));
  await client.send(new TagResourceCommand({ ResourceArn: TableArn, Tags }));
  if (!DeletionProtectionEnabled) {
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
  }
}

/** @returns nothing when there is no such table */
async function describeTable(
  client: DynamoDBClient,
  TableName: string,
): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table;
  } catch (error) {
    if ((error as Error).name === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

/** The next steps of a person: look, write one line, deploy. */
function toNextSteps(
  { name: stage, settings }: Stage,
  restores: readonly TableRestore[],
  time: Date,
): string {
  const restored = Object.fromEntries(restores.map(({ name, target }) => [name, target]));
  const line = Object.entries({ ...settings.restoredTables, ...restored })
    .map(([name, target]) => `${name}: '${target}'`)
    .join(', ');
  return [
    `\nRestored as of ${toSecond(time)}, with backups and protection. Look at what is in it:`,
    ...restores.map(({ target }) => `  aws dynamodb scan --max-items 5 --table-name ${target}`),
    `To put it to use, set in ${stagesFile}, under ${stage}:`,
    `  restoredTables: { ${line} },`,
    'and go on at "Put a restored table to use" in infra/OPERATIONS.md.',
    ...('apiKeys' in restored
      ? ['Keys that were revoked since are valid in it: revoke them again before it is put to use.']
      : []),
  ].join('\n');
}

/** Such as `2026-12-24T09:59:00Z`, without fractions of a second. */
function toSecond(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}
