import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tableNames } from '../../../infra/stages/tables.ts';
import {
  type CfnResource,
  findResources,
  templates,
  watchTemplates,
} from '../../support/stackTemplates.ts';
import { fixtureNames } from '../../support/stageFixtures.ts';

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

// Which tables can be restored stands in `templates/*.txt`.
it.each(fixtureNames)(
  'the data of %s is in the committed tables, with the same ids, names and keys',
  (stage) => {
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
  },
);
