import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tableNames } from '../../../infra/stages/tables.ts';
import { findResources } from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

// Change statefulResources.json only by hand, so that nobody overlooks a change that would replace or orphan data.
// A difference means a new, empty table for a deployment with a full one.
const committed = readFileSync(join(import.meta.dirname, 'statefulResources.json'), 'utf8');

// Which tables can be restored stands in `templates/*.txt`.
it.each(fixtureNames)(
  'the data of %s is in the committed tables, with the same ids, names and keys',
  (stage) => {
    const found = Object.entries(findResources(stage, 'AWS::DynamoDB::Table')).map(
      ([id, { Properties, DeletionPolicy }]) => {
        expect(DeletionPolicy).toBe(fixtures[stage].settings.protectsData ? 'Retain' : 'Delete');
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
