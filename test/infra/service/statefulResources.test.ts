import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TableDefinition, tableNames, tables } from '../../../infra/stages/tables.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { findResources, watchTemplates } from '../../support/stackTemplates.ts';
import { type FixtureName, fixtureNames, fixtures } from '../../support/stageFixtures.ts';

// Changed by hand alone, so that a change that would replace or orphan data cannot pass unseen: what
// differs here is a new, empty table for a deployment that has a full one.
const committed = readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8');

describe.each(fixtureNames)('the data of %s', (stage) => {
  it('lies in the committed tables, by the same ids, names and keys', () => {
    expect(toTables(stage)).toEqual(JSON.parse(committed.replaceAll('STAGE', stage)));
    expect(Object.keys(toTables(stage))).toHaveLength(tableNames.length);
  });

  it('is logged to one group of each operation and one of the gateway, by ids that stay', () => {
    const found = Object.entries(findResources(stage, 'AWS::Logs::LogGroup')).map(
      ([id, { Properties }]) => `${id.replace(/[0-9A-F]{8}$/, '')} ${Properties.LogGroupName}`,
    );
    const expected = operationIds.map((id) => `${id}Logs /aws/lambda/petstore-${stage}-${id}`);
    expect(found.sort()).toEqual(
      [...expected, `AccessLogs /aws/apigateway/petstore-${stage}`].sort(),
    );
  });

  it('lies in no other stack', () => {
    for (const type of ['AWS::DynamoDB::Table', 'AWS::S3::Bucket'])
      watchTemplates[stage].resourceCountIs(type, 0);
    // But for the scheduled check's own.
    const logs = Object.values(watchTemplates[stage].findResources('AWS::Logs::LogGroup'));
    for (const { Properties } of logs) expect(Properties.LogGroupName).toMatch(/-check$/);
  });
});

const dataTables = { 'AWS::DynamoDB::Table': tableNames.length };
const logsAndVersions = {
  'AWS::Logs::LogGroup': operationIds.length + 1,
  'AWS::Lambda::Version': operationIds.length,
};

it.each([
  ['staging', dataTables, ['Delete', 'Delete']],
  ['staging', logsAndVersions, ['Delete', 'Delete']],
  ['production', dataTables, ['Retain', 'Retain']],
  // A deployment that was rolled back leaves none of its own, and so can be repeated.
  ['production', logsAndVersions, ['RetainExceptOnCreate', 'Retain']],
] as const)('%s leaves behind, of %j, what its settings say', (stage, counts, policies) => {
  for (const [type, count] of Object.entries(counts)) {
    const found = Object.values(findResources(stage, type));
    expect(found).toHaveLength(count);
    for (const { DeletionPolicy, UpdateReplacePolicy } of found) {
      expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(policies);
    }
  }
});

/** All that cannot change without a new table in the old one's place. */
function toTables(stage: FixtureName): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(findResources(stage, 'AWS::DynamoDB::Table')).map(([id, { Properties }]) => [
      id,
      {
        name: Properties.TableName,
        keys: Properties.KeySchema.map(
          ({ AttributeName, KeyType }: Record<string, string>) => `${AttributeName} ${KeyType}`,
        ),
        attributes: Properties.AttributeDefinitions.map(
          ({ AttributeName, AttributeType }: Record<string, string>) =>
            `${AttributeName} ${AttributeType}`,
        ),
      },
    ]),
  );
}

it.each(fixtureNames)('%s has every table with its keys, billed by request', (stage) => {
  const built = Object.values(findResources(stage, 'AWS::DynamoDB::Table')).map(
    ({ Properties: { KeySchema, AttributeDefinitions, BillingMode } }) => ({
      keys: KeySchema.map((key: { AttributeName: string }) => key.AttributeName),
      types: AttributeDefinitions.map(
        (attribute: { AttributeType: string }) => attribute.AttributeType,
      ),
      billing: BillingMode,
    }),
  );
  const wanted = Object.values<TableDefinition>(tables).map(({ partitionKey, sortKey }) => ({
    keys: [partitionKey, ...(sortKey ? [sortKey] : [])].map(({ name }) => name),
    types: [partitionKey, ...(sortKey ? [sortKey] : [])].map(({ type }) => type),
    billing: 'PAY_PER_REQUEST',
  }));
  expect(built).toHaveLength(wanted.length);
  expect(built).toEqual(expect.arrayContaining(wanted));
});

it.each(fixtureNames)('%s bounds the units of each table, as its settings say', (stage) => {
  const built = Object.values(findResources(stage, 'AWS::DynamoDB::Table')).map(
    ({ Properties: { TableName, OnDemandThroughput } }) => [TableName, OnDemandThroughput],
  );
  const maximum = fixtures[stage].settings.maximumUnitsPerSecond;
  const wanted = tableNames.map((name) => [
    `petstore-${stage}-${name}`,
    { MaxReadRequestUnits: maximum[name].read, MaxWriteRequestUnits: maximum[name].write },
  ]);
  expect(built.sort()).toEqual(wanted.sort());
});

it.each([
  ['production', 'Retain', true],
  ['staging', 'Delete', false],
] as const)('%s tables have the deletion policy %s', (stage, policy, isProtected) => {
  const all = Object.values(findResources(stage, 'AWS::DynamoDB::Table'));
  expect(all).toHaveLength(Object.keys(tables).length);
  for (const table of all) {
    expect(table).toMatchObject({ DeletionPolicy: policy, UpdateReplacePolicy: policy });
    expect(table.Properties).toMatchObject({
      DeletionProtectionEnabled: isProtected,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: isProtected },
    });
  }
});
