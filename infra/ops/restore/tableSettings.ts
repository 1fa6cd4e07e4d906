import {
  DescribeContinuousBackupsCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type OnDemandThroughput,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { type TableDefinition, tables } from '../../stages/tables.ts';
import { type Patience, waitUntil } from './patience.ts';
import { describeTable, type TableRestore } from './tableRestore.ts';
import { addMissingTags, findMissingTags } from './tableTags.ts';

/** What a restored table lacks, found out and mended. */
interface Setting {
  readonly what: string;
  isSet(client: DynamoDBClient, restore: TableRestore): Promise<boolean>;
  set(client: DynamoDBClient, restore: TableRestore): Promise<unknown>;
}

/**
 * What a restored table does not take over from its source, of all that the stack gives to a table:
 * https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_RestoreTableToPointInTime.html
 */
const settings: readonly Setting[] = [
  {
    what: 'deletion of what has expired',
    async isSet(client, restore) {
      if (toTimeToLive(restore) === undefined) return true;
      const { TimeToLiveDescription: described } = await client.send(
        new DescribeTimeToLiveCommand({ TableName: restore.target }),
      );
      return /^ENABL/.test(described?.TimeToLiveStatus ?? '');
    },
    set: (client, restore) =>
      client.send(
        new UpdateTimeToLiveCommand({
          TableName: restore.target,
          TimeToLiveSpecification: { Enabled: true, AttributeName: toTimeToLive(restore) },
        }),
      ),
  },
  {
    what: 'point-in-time recovery',
    async isSet(client, { target }) {
      const { ContinuousBackupsDescription: backups } = await client.send(
        new DescribeContinuousBackupsCommand({ TableName: target }),
      );
      const recovery = backups?.PointInTimeRecoveryDescription;
      return recovery?.PointInTimeRecoveryStatus === 'ENABLED';
    },
    set: (client, { target }) =>
      client.send(
        new UpdateContinuousBackupsCommand({
          TableName: target,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      ),
  },
  {
    what: 'tags',
    isSet: async (client, restore) => (await findMissingTags(client, restore)).length === 0,
    set: addMissingTags,
  },
  {
    what: 'maximum throughput',
    async isSet(client, { source, target }) {
      const [wanted, found] = await Promise.all([
        readMaximum(client, source),
        readMaximum(client, target),
      ]);
      return (
        wanted === undefined ||
        (wanted.MaxReadRequestUnits === found?.MaxReadRequestUnits &&
          wanted.MaxWriteRequestUnits === found?.MaxWriteRequestUnits)
      );
    },
    set: async (client, { source, target }) =>
      client.send(
        new UpdateTableCommand({
          TableName: target,
          OnDemandThroughput: await readMaximum(client, source),
        }),
      ),
  },
  {
    what: 'deletion protection',
    async isSet(client, { target }) {
      return (await describeTable(client, target))?.DeletionProtectionEnabled === true;
    },
    set: (client, { target }) =>
      client.send(new UpdateTableCommand({ TableName: target, DeletionProtectionEnabled: true })),
  },
];

/** Gives a restored table what its source has, but for what it has already. */
export async function setUpTable(
  client: DynamoDBClient,
  restore: TableRestore,
  patience: Patience,
): Promise<void> {
  for (const { what, isSet, set } of settings) {
    const isDone = async () => {
      if (!(await isSet(client, restore))) await set(client, restore);
      return true;
    };
    await waitUntil(`${restore.target}, ${what}`, isDone, patience);
  }
}

/** What bounds the bill of a table on demand, where it has such a bound. */
async function readMaximum(
  client: DynamoDBClient,
  tableName: string,
): Promise<OnDemandThroughput | undefined> {
  return (await describeTable(client, tableName))?.OnDemandThroughput;
}

function toTimeToLive({ name }: TableRestore): string | undefined {
  const { timeToLive }: TableDefinition = tables[name];
  return timeToLive;
}
