import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { toUsedTables } from '../../../infra/stages/stages.ts';
import { type TableName, tables } from '../../../infra/stages/tables.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { suites } from '../../conformance/operations/suites.ts';
import {
  builtCommit,
  type CfnResource,
  changedProduction,
  findResources,
  synthesizeProduction,
  templates,
} from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

// `templates/*.txt` have all properties of two operations; these tests check each operation's own.

/** All the data that a function may use, by its role and its environment. */
function toAccess(id: OperationId): Partial<Record<TableName, readonly string[]>> {
  return { apiKeys: ['dynamodb:GetItem'], ...suites[id].access };
}

describe.each(fixtureNames)('the functions of %s', (stage) => {
  const functions = findResources(stage, 'AWS::Lambda::Function');
  const policies = Object.values(findResources(stage, 'AWS::IAM::Policy'));
  const tableIds = Object.keys(findResources(stage, 'AWS::DynamoDB::Table'));
  const toTableId = (table: string) => tableIds.find((id) => id.startsWith(`${table}Table`));
  const { settings } = fixtures[stage];

  it.each(operationIds)('%s has only the grants and variables that it needs', (id) => {
    const [functionId, { Properties }] = Object.entries(functions).find(
      ([, one]) => one.Properties.Description === operations[id].summary,
    ) as [string, CfnResource];
    expect(Properties).toMatchObject({
      FunctionName: `petstore-${stage}-${id}`,
      Timeout: operations[id].streamed ? 120 : 28,
      MemorySize: settings.memoryMegabytes[id],
    });
    const role = Properties.Role['Fn::GetAtt'][0];
    const statements = policies
      .filter(({ Properties: { Roles } }) => Roles.some(({ Ref }: { Ref: string }) => Ref === role))
      .flatMap((policy) => policy.Properties.PolicyDocument.Statement);
    const toArn = (logicalId?: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });
    const allow = (actions: readonly string[], Resource: unknown) => ({
      Action: actions.length === 1 ? actions[0] : actions,
      Effect: 'Allow',
      Resource,
    });
    const logGroup = Properties.LoggingConfig.LogGroup.Ref;
    const expected = [
      allow(['logs:CreateLogStream', 'logs:PutLogEvents'], toArn(logGroup)),
      ...Object.entries(toAccess(id)).map(([table, actions]) =>
        allow(actions, toArn(toTableId(table))),
      ),
      allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'),
    ];
    expect(statements).toHaveLength(expected.length);
    expect(statements).toEqual(expect.arrayContaining(expected));
    const names = (Object.keys(toAccess(id)) as TableName[]).map((table) => [
      tables[table].variable,
      { Ref: toTableId(table) },
    ]);
    expect(Properties.Environment.Variables).toEqual({
      ...Object.fromEntries(names),
      ALLOWED_ORIGINS: settings.allowedOrigins.join(','),
      DOCUMENTATION_ADDRESS: settings.documentationAddress,
      COMMIT: builtCommit,
    });
    const [alias] = Object.values(findResources(stage, 'AWS::Lambda::Alias')).filter(
      (one) => one.Properties.FunctionName.Ref === functionId,
    ) as (CfnResource & { readonly UpdatePolicy?: object })[];
    const isGradual = JSON.stringify(alias?.UpdatePolicy)?.includes(`"${id}Deployment`) ?? false;
    expect(isGradual).toBe(settings.rollout !== 'atOnce');
  });
});

it('each operation can have its own concurrency, and be turned off', () => {
  const { service } = changedProduction();
  const found = Object.values(service.findResources('AWS::Lambda::Function')).map(
    ({ Properties }) => [Properties.FunctionName, Properties.ReservedConcurrentExecutions],
  );
  expect(Object.fromEntries(found)).toEqual({
    'petstore-production-getPet': 0,
    'petstore-production-listInventory': 50,
  });
});

it('lets the functions use a restored table, and keeps the table that it replaces', () => {
  const { service } = changedProduction();
  const variables = { PETS_TABLE: 'pets-restored' };
  const functions = service.findResources('AWS::Lambda::Function', {
    Properties: { Environment: { Variables: variables } },
  });
  const users = operationIds.filter((id) => toUsedTables(id).includes('pets'));
  // The hook reads it too.
  expect(Object.keys(functions)).toHaveLength(users.length + 1);
  const [granted] = Object.values(service.findResources('AWS::IAM::Policy'))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
    .filter((statement) => JSON.stringify(statement).includes(':table/pets-restored'));
  // Earlier versions use the first table until nobody calls them any more.
  const first = { 'Fn::GetAtt': [expect.stringMatching(/^petsTable/), 'Arn'] };
  expect(granted.Resource).toEqual([expect.anything(), first]);
});

it('the same code from another commit is another version', () => {
  const versionsOf = (template: Template) =>
    Object.entries(template.findResources('AWS::Lambda::Version'));
  const before = versionsOf(templates.production).map(([id]) => id);
  const next = versionsOf(synthesizeProduction({}, 'fedcba987654').service);
  expect(next).toHaveLength(operationIds.length);
  for (const [id, { Properties }] of next) {
    expect(before).not.toContain(id);
    expect(Properties.Description).toBe('fedcba987654');
  }
});
