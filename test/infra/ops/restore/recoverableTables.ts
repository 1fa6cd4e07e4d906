import { toTableOutput } from '../../../../infra/stages/resourceNames.ts';
import { tableNames } from '../../../../infra/stages/tables.ts';
import { type Answers, AwsError, describeStack } from '../aws.ts';

interface Table {
  /** How often it is still seen being created. */
  creating: number;
  recovery: boolean;
  protected: boolean;
  maximum?: { MaxReadRequestUnits: number; MaxWriteRequestUnits: number };
  timeToLive?: string;
  tags: { Key: string; Value: string }[];
  restored?: { source: string; time: number };
  /** In seconds. */
  latest: number;
}

const prefix = 'petstore-production-';
const seconds = (time: string) => Date.parse(time) / 1_000;
const earliest = seconds('2026-11-01T00:00:00Z');
const latest = seconds('2026-11-20T12:00:00Z') + 0.5;
const outputs = tableNames.map((name) => [toTableOutput(name), prefix + name]);

/** The tables of production, which can be restored to any second of 2026-11 before 12:00:00.5 of the 20th. */
export function defineRecoverableTables() {
  const toTable = (): Table => ({
    creating: 0,
    recovery: true,
    protected: true,
    latest,
    maximum: { MaxReadRequestUnits: 6_000, MaxWriteRequestUnits: 2_000 },
    tags: [
      { Key: 'stage', Value: 'production' },
      { Key: 'aws:cloudformation:stack-name', Value: 'petstore-production' },
      { Key: 'service', Value: 'petstore' },
    ],
  });
  const tables = new Map(tableNames.map((name) => [prefix + name, toTable()]));
  const toArn = (name: unknown) => `arn:aws:dynamodb:eu-west-1:1:table/${name}`;

  /** By its name or its ARN. */
  function find(name: unknown, error = 'ResourceNotFoundException'): Table {
    const table = tables.get(String(name).replace(/^.*\//, ''));
    if (table) return table;
    throw new AwsError(error, `Table not found: ${name}`);
  }

  const answers: Answers = {
    ...describeStack('petstore-production', Object.fromEntries(outputs)),
    DescribeTable: ({ TableName }) => {
      const table = find(TableName);
      const { restored, maximum } = table;
      const isCreating = table.creating > 0;
      if (isCreating) table.creating -= 1;
      return {
        Table: {
          TableArn: toArn(TableName),
          TableStatus: isCreating ? 'CREATING' : 'ACTIVE',
          DeletionProtectionEnabled: table.protected,
          ...(maximum && { OnDemandThroughput: maximum }),
          ...(restored && {
            RestoreSummary: {
              SourceTableArn: toArn(restored.source),
              RestoreDateTime: restored.time,
              RestoreInProgress: isCreating,
            },
          }),
        },
      };
    },
    DescribeContinuousBackups: ({ TableName }) => {
      const { recovery, latest } = find(TableName, 'TableNotFoundException');
      return {
        ContinuousBackupsDescription: {
          ContinuousBackupsStatus: 'ENABLED',
          PointInTimeRecoveryDescription: {
            PointInTimeRecoveryStatus: recovery ? 'ENABLED' : 'DISABLED',
            ...(recovery && {
              EarliestRestorableDateTime: earliest,
              LatestRestorableDateTime: latest,
            }),
          },
        },
      };
    },
    RestoreTableToPointInTime: ({ SourceTableName, TargetTableName, RestoreDateTime }) => {
      find(SourceTableName);
      tables.set(String(TargetTableName), {
        creating: 2,
        recovery: false,
        protected: false,
        tags: [],
        latest,
        restored: { source: String(SourceTableName), time: Number(RestoreDateTime) },
      });
      return {};
    },
    UpdateContinuousBackups: ({ TableName }) => Object.assign(find(TableName), { recovery: true }),
    DescribeTimeToLive: ({ TableName }) => {
      const TimeToLiveStatus = find(TableName).timeToLive ? 'ENABLED' : 'DISABLED';
      return { TimeToLiveDescription: { TimeToLiveStatus } };
    },
    UpdateTimeToLive: ({ TableName, TimeToLiveSpecification }) => {
      const { AttributeName: timeToLive } = TimeToLiveSpecification as { AttributeName: string };
      return Object.assign(find(TableName), { timeToLive }) && {};
    },
    // One tag a page.
    ListTagsOfResource: ({ ResourceArn, NextToken = '0' }) => {
      const { tags } = find(ResourceArn);
      const next = Number(NextToken) + 1;
      const more = next < tags.length && { NextToken: String(next) };
      return { Tags: tags.slice(next - 1, next), ...more };
    },
    TagResource: ({ ResourceArn, Tags }) => {
      find(ResourceArn).tags.push(...(Tags as Table['tags']));
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
