import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type StageName, stageNames } from '../../../infra/stages/stages.ts';
import { tableNames } from '../../../infra/stages/tables.ts';
import { operationIds } from '../../../shared/contract/operations.ts';
import { findResources, watchTemplates } from '../../support/stackTemplates.ts';

// Changed by hand alone, so that a change that would replace or orphan data cannot pass unseen: what
// differs here is a new, empty table for a deployment that has a full one.
const committed: Record<StageName, Record<string, unknown>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8'),
);

describe.each(stageNames)('the data of %s', (stage) => {
  it('lies in the committed tables, by the same ids, names and keys', () => {
    expect(toTables(stage)).toEqual(committed[stage]);
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

const logsAndVersions = {
  'AWS::Logs::LogGroup': operationIds.length + 1,
  'AWS::Lambda::Version': operationIds.length,
};

it.each([
  ['staging', { 'AWS::DynamoDB::Table': 5 }, ['Delete', 'Delete']],
  ['staging', logsAndVersions, ['Delete', 'Delete']],
  ['production', { 'AWS::DynamoDB::Table': 5 }, ['Retain', 'Retain']],
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
function toTables(stage: StageName): Record<string, unknown> {
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
