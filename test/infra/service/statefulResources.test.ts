import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tableNames } from '../../../infra/stages/tables.ts';
import { findResources, templates, watchTemplates } from '../../support/stackTemplates.ts';
import { fixtureNames } from '../../support/stageFixtures.ts';

// Changed by hand alone, so that a change that would replace or orphan data cannot pass unseen: what
// differs here is a new, empty table for a deployment that has a full one.
const committed = readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8');

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
