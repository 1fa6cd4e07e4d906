import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toUsedTables } from '../../../infra/stages/stages.ts';
import { type TableName, tableNames, tables } from '../../../infra/stages/tables.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { suites } from '../../conformance/operations/suites.ts';
import {
  builtCommit,
  type CfnResource,
  changedProduction,
  findProperties,
  findResources,
  synthesizeProduction,
  templates,
} from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';
import { compile } from '../watch/nights/evaluate.ts';

// `templates/*.txt` have all properties of two operations; these tests check each operation's own, and relations.

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** The statements of a role's own policy. */
const findStatements = (stage: keyof typeof templates, role: string): Statement[] =>
  findProperties(templates[stage], 'AWS::IAM::Policy')
    .filter(({ Roles: [{ Ref }] }) => Ref.startsWith(role))
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

/** All the data that a function may use, by its role and its environment. */
function toAccess(id: OperationId): [TableName, readonly string[]][] {
  return Object.entries({ apiKeys: ['dynamodb:GetItem'], ...suites[id].access }) as never;
}

describe.each(fixtureNames)('the functions of %s', (stage) => {
  const functions = Object.entries(findResources(stage, 'AWS::Lambda::Function'));
  const aliases = Object.values(templates[stage].findResources('AWS::Lambda::Alias'));
  const tableIds = Object.keys(findResources(stage, 'AWS::DynamoDB::Table'));
  const toTableId = (table: string) => tableIds.find((id) => id.startsWith(`${table}Table`));
  const { settings } = fixtures[stage];

  it.each(operationIds)('%s has only the grants and variables that it needs', (id) => {
    const [functionId, { Properties }] = functions.find(
      ([, one]) => one.Properties.Description === operations[id].summary,
    ) as [string, CfnResource];
    const toArn = (logicalId?: string) => ({ 'Fn::GetAtt': [logicalId, 'Arn'] });
    const allow = (actions: readonly string[], Resource: unknown) => ({
      Action: actions.length === 1 ? actions[0] : actions,
      Effect: 'Allow',
      Resource,
    });
    const expected = [
      allow(
        ['logs:CreateLogStream', 'logs:PutLogEvents'],
        toArn(Properties.LoggingConfig.LogGroup.Ref),
      ),
      ...toAccess(id).map(([table, actions]) => allow(actions, toArn(toTableId(table)))),
      allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*'),
    ];
    const statements = findStatements(stage, Properties.Role['Fn::GetAtt'][0]);
    expect(statements).toHaveLength(expected.length);
    expect(statements).toEqual(expect.arrayContaining(expected));
    const names = toAccess(id).map(([table]) => [
      tables[table].variable,
      { Ref: toTableId(table) },
    ]);
    expect(Properties).toMatchObject({
      FunctionName: `petstore-${stage}-${id}`,
      Timeout: operations[id].streamed ? 120 : 28,
      MemorySize: settings.memoryMegabytes[id],
    });
    expect(Properties.Environment.Variables).toEqual({
      ...Object.fromEntries(names),
      ALLOWED_ORIGINS: settings.allowedOrigins.join(','),
      DOCUMENTATION_ADDRESS: settings.documentationAddress,
      COMMIT: builtCommit,
    });
    const alias = aliases.find((one) => one.Properties.FunctionName.Ref === functionId);
    const hookId = functions.find(([, one]) => one.Properties.FunctionName?.endsWith('-hook'))?.[0];
    const deployment = {
      DeploymentGroupName: { Ref: expect.stringMatching(`^${id}Deployment`) },
      BeforeAllowTrafficHook: { Ref: hookId },
    };
    expect(alias?.UpdatePolicy?.CodeDeployLambdaAliasUpdate).toEqual(
      settings.rollout === 'atOnce' ? undefined : expect.objectContaining(deployment),
    );
  });
});

it('gives the hook what it calls, and nothing else', () => {
  const statements = findStatements('production', 'HookRole');
  const toActions = (some: readonly Statement[]) => some.flatMap(({ Action }) => Action);
  const findActions = (resource: string) =>
    toActions(statements.filter(({ Resource }) => JSON.stringify(Resource).includes(resource)));
  expect([...new Set(toActions(statements))].sort()).toEqual([
    'codedeploy:GetDeploymentTarget',
    'codedeploy:ListDeploymentTargets',
    'codedeploy:PutLifecycleEventHookExecutionStatus',
    'dynamodb:DeleteItem',
    'dynamodb:PutItem',
    'dynamodb:Scan',
    'lambda:GetFunctionConcurrency',
    'lambda:InvokeFunction',
    'logs:CreateLogStream',
    'logs:PutLogEvents',
  ]);
  for (const action of findActions('"*"')) expect(action).toMatch(/DeploymentTargets?$/);
  expect(findActions('apiKeysTable')).toEqual(['dynamodb:PutItem', 'dynamodb:DeleteItem']);
  // No key that somebody was given.
  const conditions = statements.filter(({ Action }) => Action.includes('dynamodb:PutItem'));
  expect(conditions.map(({ Condition }) => Condition)).toEqual([
    {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['hook*'] },
      Null: { 'dynamodb:LeadingKeys': 'false' },
    },
  ]);
});

it('each operation can have its own concurrency, and be turned off', () => {
  const found = findProperties(changedProduction().service, 'AWS::Lambda::Function').map(
    ({ FunctionName, ReservedConcurrentExecutions }) => [
      FunctionName,
      ReservedConcurrentExecutions,
    ],
  );
  expect(Object.fromEntries(found)).toEqual({
    'petstore-production-getPet': 0,
    'petstore-production-listInventory': 50,
  });
});

it('lets the functions use a restored table, and keeps the table that it replaces', () => {
  const { service } = changedProduction();
  const restored = findProperties(service, 'AWS::Lambda::Function').filter(
    ({ Environment }) => Environment?.Variables?.PETS_TABLE === 'pets-restored',
  );
  const users = operationIds.filter((id) => toUsedTables(id).includes('pets'));
  // The hook reads it too.
  expect(restored).toHaveLength(users.length + 1);
  const granted = findProperties(service, 'AWS::IAM::Policy')
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .find((statement) => JSON.stringify(statement).includes(':table/pets-restored'));
  // Earlier versions use the first table until nobody calls them any more.
  const first = { 'Fn::GetAtt': [expect.stringMatching(/^petsTable/), 'Arn'] };
  expect(granted.Resource).toEqual([expect.anything(), first]);
});

it('the same code from another commit is another version', () => {
  const before = Object.keys(findResources('production', 'AWS::Lambda::Version'));
  const { service } = synthesizeProduction({}, 'fedcba987654');
  const next = Object.entries(service.findResources('AWS::Lambda::Version'));
  expect(next).toHaveLength(operationIds.length);
  for (const [id, { Properties }] of next) {
    expect(before).not.toContain(id);
    expect(Properties.Description).toBe('fedcba987654');
  }
});

// Change statefulResources.json only by hand, so that nobody overlooks a change that would replace or orphan data.
// A difference means a new, empty table for a deployment with a full one.
const committed = readFileSync(new URL('statefulResources.json', import.meta.url), 'utf8');

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

// `templates/*.txt` have all alarms of a function, with what they look at, and the group that they stop.
it.each([
  ['clientErrors', 10, 20, true],
  ['clientErrors', 19, 19, false],
  ['clientErrors', 9, 20, false],
  ['clientErrors', undefined, 100, false],
  ['clientErrors', undefined, undefined, false],
  ['failed', 1, 20, true],
  ['failed', 1, 21, false],
  ['failed', 1, 19, false],
  ['failed', 2, 2, false],
  ['failed', 3, 3, true],
  ['failed', 3, 59, true],
  ['failed', 3, 61, false],
  ['failed', undefined, 100, false],
  ['failed', undefined, undefined, false],
] as const)(
  'with %s %s of %s calls, takes a deployment back: %s',
  (counted, count, calls, isTakenBack) => {
    const name = `getPetRollback${counted === 'failed' ? 'Server' : 'Client'}`;
    const alarms = Object.entries(findResources('production', 'AWS::CloudWatch::Alarm'));
    const [, alarm] = alarms.find(([id]) => id.startsWith(name)) ?? [];
    const { Metrics, Threshold } = alarm?.Properties ?? {};
    const { Expression } = Metrics.find((one: { Expression?: string }) => one.Expression);
    const other = counted === 'failed' ? 'clientErrors' : 'failed';
    const calculate = compile([counted, other, 'calls'], Expression);
    const isFiring = calculate([count, undefined, calls]) >= Threshold;
    expect(isFiring).toBe(isTakenBack);
  },
);
