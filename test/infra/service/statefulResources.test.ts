import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type StageName, stageNames } from '../../../infra/stages/stages.ts';
import { findResources, watchTemplates } from '../../support/stackTemplates.ts';

// Changed by hand alone, so that a change that would replace or orphan data cannot pass unseen: what
// differs here is a new, empty table or log for a deployment that has a full one.
const committed: Record<StageName, Record<string, unknown>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8'),
);

describe.each(stageNames)('the data of %s', (stage) => {
  const found = { ...toTables(stage), ...toLogGroups(stage) };

  it('lies in the committed tables and logs, by the same ids, names and keys', () => {
    expect(found).toEqual(committed[stage]);
  });

  it('is four tables and five logs', () => {
    expect(Object.keys(found)).toHaveLength(9);
  });

  it('lies in no other stack', () => {
    for (const type of ['AWS::DynamoDB::Table', 'AWS::Logs::LogGroup', 'AWS::S3::Bucket'])
      watchTemplates[stage].resourceCountIs(type, 0);
  });
});

it.each([
  ['staging', 'Delete'],
  ['production', 'Retain'],
] as const)('%s leaves behind what its settings say, with the policy %s', (stage, policy) => {
  const kept = ['AWS::DynamoDB::Table', 'AWS::Logs::LogGroup', 'AWS::Lambda::Version'].flatMap(
    (type) => Object.values(findResources(stage, type)),
  );
  expect(kept).toHaveLength(13);
  for (const { DeletionPolicy, UpdateReplacePolicy } of kept) {
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual([policy, policy]);
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

function toLogGroups(stage: StageName): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(findResources(stage, 'AWS::Logs::LogGroup')).map(([id, { Properties }]) => [
      id,
      { name: Properties.LogGroupName },
    ]),
  );
}
