import { tableNames } from '../../../../infra/stages/tables.ts';
import { type Answers, AwsError } from '../aws.ts';

interface Table {
  /** How often it is still seen being created. */
  creating: number;
  recovery: boolean;
  protected: boolean;
  maximum?: { MaxReadRequestUnits: number; MaxWriteRequestUnits: number };
  timeToLive?: string;
  tags: { Key: string; Value: string }[];
  restored?: { source: string; time: number };
}

const prefix = 'petstore-production-';
const seconds = (time: string) => Date.parse(time) / 1_000;

/** The tables of production, which can be restored to any second of 2026-11 before 12:00:00.5 of the 20th. */
export function defineRecoverableTables() {
  const tables = new Map<string, Table>();
  for (const name of tableNames) {
    tables.set(prefix + name, {
      creating: 0,
      recovery: true,
      protected: true,
      maximum: { MaxReadRequestUnits: 6_000, MaxWriteRequestUnits: 2_000 },
      tags: [
        { Key: 'stage', Value: 'production' },
        { Key: 'aws:cloudformation:stack-name', Value: 'petstore-production' },
        { Key: 'service', Value: 'petstore' },
      ],
    });
  }

  function find(name: unknown, error = 'ResourceNotFoundException'): Table {
    const table = tables.get(String(name));
    if (table) return table;
    throw new AwsError(error, `Table not found: ${name}`);
  }
  const toArn = (name: unknown) => `arn:aws:dynamodb:eu-west-1:1:table/${name}`;
  const findByArn = (arn: unknown) => find(String(arn).split('/')[1]);

  const answers: Answers = {
    DescribeStacks: () => ({
      Stacks: [
        {
          StackStatus: 'UPDATE_COMPLETE',
          Outputs: tableNames.map((name) => ({
            OutputKey: `${name[0]?.toUpperCase()}${name.slice(1)}TableName`,
            OutputValue: prefix + name,
          })),
        },
      ],
    }),
    DescribeTable: ({ TableName }) => {
      const { creating, restored, maximum, protected: isProtected } = find(TableName);
      if (creating > 0) find(TableName).creating -= 1;
      return {
        Table: {
          TableArn: toArn(TableName),
          TableStatus: creating > 0 ? 'CREATING' : 'ACTIVE',
          DeletionProtectionEnabled: isProtected,
          ...(maximum && { OnDemandThroughput: maximum }),
          ...(restored && {
            RestoreSummary: {
              SourceTableArn: toArn(restored.source),
              RestoreDateTime: restored.time,
              RestoreInProgress: creating > 0,
            },
          }),
        },
      };
    },
    DescribeContinuousBackups: ({ TableName }) => ({
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: find(TableName, 'TableNotFoundException').recovery
          ? {
              PointInTimeRecoveryStatus: 'ENABLED',
              EarliestRestorableDateTime: seconds('2026-11-01T00:00:00Z'),
              LatestRestorableDateTime: seconds('2026-11-20T12:00:00Z') + 0.5,
            }
          : { PointInTimeRecoveryStatus: 'DISABLED' },
      },
    }),
    RestoreTableToPointInTime: ({ SourceTableName, TargetTableName, RestoreDateTime }) => {
      find(SourceTableName);
      const restored = { source: String(SourceTableName), time: Number(RestoreDateTime) };
      const lacks = { recovery: false, protected: false, tags: [] };
      tables.set(String(TargetTableName), { creating: 2, restored, ...lacks });
      return {};
    },
    UpdateContinuousBackups: ({ TableName }) => {
      find(TableName).recovery = true;
      return {};
    },
    DescribeTimeToLive: ({ TableName }) => ({
      TimeToLiveDescription: {
        TimeToLiveStatus: find(TableName).timeToLive ? 'ENABLED' : 'DISABLED',
      },
    }),
    UpdateTimeToLive: ({ TableName, TimeToLiveSpecification }) => {
      find(TableName).timeToLive = (
        TimeToLiveSpecification as { AttributeName: string }
      ).AttributeName;
      return {};
    },
    // One tag a page.
    ListTagsOfResource: ({ ResourceArn, NextToken = '0' }) => {
      const { tags } = findByArn(ResourceArn);
      const next = Number(NextToken) + 1;
      return {
        Tags: tags.slice(next - 1, next),
        ...(next < tags.length && { NextToken: String(next) }),
      };
    },
    TagResource: ({ ResourceArn, Tags }) => {
      findByArn(ResourceArn).tags.push(...(Tags as Table['tags']));
      return {};
    },
    UpdateTable: ({ TableName, DeletionProtectionEnabled, OnDemandThroughput }) => {
      const table = find(TableName);
      if (DeletionProtectionEnabled) table.protected = true;
      if (OnDemandThroughput) table.maximum = OnDemandThroughput as NonNullable<Table['maximum']>;
      return {};
    },
  };
  return { tables, answers };
}
