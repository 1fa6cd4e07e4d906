import { setTimeout } from 'node:timers/promises';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ListTagsOfResourceCommand,
  type PointInTimeRecoveryDescription,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  type Tag,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { isOutage } from '../../../shared/runtime/isOutage.ts';
import { tell } from '../../cli/output.ts';
import { toTime } from '../../cli/progress.ts';
import { toSecond } from '../../cli/time.ts';
import { type TableDefinition, type TableName, tables } from '../../stages/tables.ts';

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
    if (table) {
      checkIsRestore(restore, table);
    } else {
      await checkRestorable(client, restore);
      missing.push(restore);
    }
  }
  for (const { source, target, time } of missing) {
    const names = { SourceTableName: source, TargetTableName: target };
    await client.send(new RestoreTableToPointInTimeCommand({ ...names, RestoreDateTime: time }));
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

const LINE_MILLISECONDS = 60_000;
/** What a table answers while something else is being done to it. */
const passing = ['ResourceInUseException', 'ContinuousBackupsUnavailableException'];

/**
 * Looks at the new table until it is restored and has what its source has, for hours if need be. It waits out
 * what passes, such as an outage. The SDK's `waitUntilTableExists` does not fit: it never ends where the
 * credentials have expired, or where the table was deleted.
 * @throws any other failure, or the signal's reason
 */
export async function finishRestore(
  client: DynamoDBClient,
  restore: TableRestore,
  pollMilliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const started = performance.now();
  let reported = started;
  let wasSeen = false;
  for (;;) {
    signal.throwIfAborted();
    let trouble = '';
    try {
      const table = await describeTable(client, restore.target);
      // A new table may not be found at first:
      // https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DescribeTable.html
      if (table?.TableStatus === 'DELETING' || (!table && wasSeen)) {
        throw new Error(`${restore.target} is being deleted, or was.`);
      }
      wasSeen ||= table !== undefined;
      if (table?.TableStatus === 'ACTIVE') return await setUpTable(client, restore, table);
    } catch (error) {
      const { name } = error as Error;
      if (!isOutage(error) && !passing.includes(name)) throw error;
      trouble = ` (${name})`;
    }
    const now = performance.now();
    if (now - reported >= LINE_MILLISECONDS) {
      reported = now;
      const time = toTime((now - started) / 1_000);
      tell(`Restoring ${restore.target}: ${time} so far${trouble}.`);
    }
    await setTimeout(pollMilliseconds, undefined, { signal });
  }
}

/**
 * Gives a restored table what it does not take over from its source, of all that the stack gives to a table, and
 * leaves alone what it has already:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
 */
async function setUpTable(
  client: DynamoDBClient,
  { name, source, target: TableName }: TableRestore,
  { TableArn, OnDemandThroughput: maximum, DeletionProtectionEnabled }: TableDescription,
): Promise<void> {
  const first = await describeTable(client, source);
  if (!first) throw new Error(`There is no table ${source} any more.`);

  const { timeToLive }: TableDefinition = tables[name];
  if (timeToLive !== undefined) {
    const there = await client.send(new DescribeTimeToLiveCommand({ TableName }));
    if (!/^ENABL/.test(there.TimeToLiveDescription?.TimeToLiveStatus ?? '')) {
      const TimeToLiveSpecification = { Enabled: true, AttributeName: timeToLive };
      await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    }
  }
  const recovery = await describeRecovery(client, TableName);
  if (recovery.PointInTimeRecoveryStatus !== 'ENABLED') {
    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
    await client.send(
      new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }),
    );
  }
  // Cost reports are split by tags. Those that begin with `aws:` are AWS's own, and cannot be given:
  // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Tagging.html
  const there = (await readTags(client, TableArn)).map(({ Key }) => Key);
  const Tags = (await readTags(client, first.TableArn)).filter(
    ({ Key }) => !Key?.startsWith('aws:') && !there.includes(Key),
  );
  if (Tags.length > 0) await client.send(new TagResourceCommand({ ResourceArn: TableArn, Tags }));
  const wanted = first.OnDemandThroughput;
  const isBound =
    wanted?.MaxReadRequestUnits === maximum?.MaxReadRequestUnits &&
    wanted?.MaxWriteRequestUnits === maximum?.MaxWriteRequestUnits;
  if (wanted && !isBound) {
    await client.send(new UpdateTableCommand({ TableName, OnDemandThroughput: wanted }));
  }
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

async function describeRecovery(
  client: DynamoDBClient,
  TableName: string,
): Promise<PointInTimeRecoveryDescription> {
  const answer = await client.send(new DescribeContinuousBackupsCommand({ TableName }));
  return answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
}

async function readTags(client: DynamoDBClient, ResourceArn: string | undefined): Promise<Tag[]> {
  const tags: Tag[] = [];
  let NextToken: string | undefined;
  do {
    const page = await client.send(new ListTagsOfResourceCommand({ ResourceArn, NextToken }));
    tags.push(...(page.Tags ?? []));
    NextToken = page.NextToken;
  } while (NextToken);
  return tags;
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
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
 * @throws {Error} that says which times the table can be restored to
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
  const recovery = await describeRecovery(client, source).catch((error: Error) => {
    if (error.name !== 'TableNotFoundException') throw error;
    throw new Error(
      `Nothing was restored: there is no table ${source}. If it was deleted, see "A deleted table" in infra/RUNBOOK.md.`,
    );
  });
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } = recovery;
  if (earliest && latest) return { earliest, latest };
  throw new Error(
    `Nothing was restored: ${source} has no point-in-time recovery, which only a stage with protectsData has. npm run import loads an export.`,
  );
}
