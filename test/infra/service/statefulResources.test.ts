import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableNames } from '../../../infra/stages/tables.ts';
import {
  type CfnResource,
  findResources,
  templates,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { fixtureNames } from '../../support/stageFixtures.ts';

// Changed by hand alone, so that a change that would replace or orphan data cannot pass unseen: what
// differs here is a new, empty table for a deployment that has a full one.
const committed = readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8');

/** Of the account, and not of a stage: without them, another stage would lose its access logs. */
const ofAccount = ['AWS::ApiGateway::Account', 'AWS::IAM::Role'];

it.each([
  ['staging', ofAccount],
  [
    'production',
    [...ofAccount, 'AWS::DynamoDB::Table', 'AWS::Lambda::Version', 'AWS::Logs::LogGroup'],
  ],
] as const)('what stays of a destroyed %s is what OPERATIONS.md names', (stage, types) => {
  const kept = [templates[stage], watchTemplates[stage]].flatMap((template) =>
    Object.entries<CfnResource & { Type: string }>(template.toJSON().Resources).filter(
      ([, { DeletionPolicy = 'Delete' }]) => DeletionPolicy !== 'Delete',
    ),
  );
  // A version that is kept goes with its function.
  expect([...new Set(kept.map(([, { Type }]) => Type))].sort()).toEqual(types.toSorted());
  const roles = kept.filter(([, { Type }]) => Type === 'AWS::IAM::Role').map(([id]) => id);
  expect(roles).toEqual([expect.stringMatching(/^ApiCloudWatchRole/)]);
});

describe.each(fixtureNames)('the data of %s', (stage) => {
  it('lies in the committed tables, by the same ids, names and keys', () => {
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

  it('lies in no other stack, and in no custom resource’s hands', () => {
    const types = [templates[stage], watchTemplates[stage]].map((template) =>
      Object.values<{ Type: string }>(template.toJSON().Resources).map(({ Type }) => Type),
    );
    expect(types[1]).not.toContain('AWS::DynamoDB::Table');
    expect(types.flat().join()).not.toMatch(/AWS::S3::Bucket|Custom::|CustomResource/);
  });
});
