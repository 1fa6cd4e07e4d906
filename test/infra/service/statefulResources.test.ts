import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recoverableTables, tableNames } from '../../../infra/stages/tables.ts';
import {
  type CfnResource,
  findResources,
  templates,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

// Change statefulResources.json only by hand, so that nobody overlooks a change that would replace or orphan data.
// A difference means a new, empty table for a deployment with a full one.
const committed = readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8');

/** Resources of the account, not of a stage: without them, another stage would lose its access logs. */
const ofAccount = ['AWS::ApiGateway::Account', 'AWS::IAM::Role'];

const kept = [...ofAccount, 'AWS::DynamoDB::Table', 'AWS::Lambda::Version', 'AWS::Logs::LogGroup'];

it.each([
  ['staging', ofAccount],
  ['production', kept],
] as const)('a destroyed %s keeps the resources that OPERATIONS.md names', (stage, types) => {
  const found = [templates[stage], watchTemplates[stage]].flatMap((template) =>
    Object.entries<CfnResource & { Type: string }>(template.toJSON().Resources).filter(
      ([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete',
    ),
  );
  // A kept version goes with its function.
  expect([...new Set(found.map(([, { Type }]) => Type))].sort()).toEqual(types.toSorted());
  const roles = found.filter(([, { Type }]) => Type === 'AWS::IAM::Role').map(([id]) => id);
  expect(roles).toEqual([expect.stringMatching(/^ApiCloudWatchRole/)]);
});

describe.each(fixtureNames)('the data of %s', (stage) => {
  it('is in the committed tables, with the same ids, names and keys', () => {
    const found = Object.entries(findResources(stage, 'AWS::DynamoDB::Table')).map(
      ([id, { Properties }]) => {
        const { TableName: name, KeySchema, AttributeDefinitions } = Properties;
        const toTexts = (rows: Record<string, string>[]) =>
          rows.map((row) => Object.values(row).join(' '));
        return [id, { name, keys: toTexts(KeySchema), attributes: toTexts(AttributeDefinitions) }];
      },
    );
    expect(Object.fromEntries(found)).toEqual(JSON.parse(committed.replaceAll('STAGE', stage)));
    expect(found).toHaveLength(tableNames.length);
  });

  it('can be restored if it is protected, except what expires within a day', () => {
    const found = Object.values(findResources(stage, 'AWS::DynamoDB::Table'))
      .map(({ Properties }) => Properties)
      .filter((one) => one.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled)
      .map(({ TableName }) => TableName.replace(`petstore-${stage}-`, ''));
    expect(found).toEqual(fixtures[stage].settings.protectsData ? recoverableTables : []);
  });

  it('is in no other stack, and managed by no custom resource', () => {
    const types = [templates[stage], watchTemplates[stage]].map((template) =>
      Object.values<{ Type: string }>(template.toJSON().Resources).map(({ Type }) => Type),
    );
    expect(types[1]).not.toContain('AWS::DynamoDB::Table');
    expect(types.flat().join()).not.toMatch(/AWS::S3::Bucket|Custom::|CustomResource/);
  });
});
