import {
  DescribeContinuousBackupsCommand,
  type DynamoDBClient,
  type PointInTimeRecoveryDescription,
} from '@aws-sdk/client-dynamodb';
import { toSecond } from '../../cli/instant.ts';
import { toTime } from '../../cli/progress.ts';
import type { TableRestore } from './tableRestore.ts';

/**
 * The last second that a table can be restored to, some five minutes ago.
 * @throws {Error} when it has no point-in-time recovery
 */
export async function readLatest(client: DynamoDBClient, source: string): Promise<Date> {
  return (await readWindow(client, source)).latest;
}

/**
 * Refuses a time that the table cannot be restored to.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html
 * @throws {Error} with what can be had
 */
export async function checkRestorable(
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

async function readWindow(client: DynamoDBClient, source: string) {
  const { EarliestRestorableDateTime: earliest, LatestRestorableDateTime: latest } =
    (await describeRecovery(client, source)) ?? {};
  if (earliest && latest) return { earliest, latest };
  throw new Error(
    `Nothing was restored: ${source} has no point-in-time recovery, which only a stage with protectsData has. npm run import loads an export.`,
  );
}

async function describeRecovery(
  client: DynamoDBClient,
  source: string,
): Promise<PointInTimeRecoveryDescription | undefined> {
  try {
    const { ContinuousBackupsDescription } = await client.send(
      new DescribeContinuousBackupsCommand({ TableName: source }),
    );
    return ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  } catch (error) {
    if ((error as Error).name !== 'TableNotFoundException') throw error;
    throw new Error(
      `Nothing was restored: there is no table ${source}. If it was deleted, see "A deleted table" in infra/RUNBOOK.md.`,
    );
  }
}
