import { readFileSync } from 'node:fs';
import { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { buildApp, templatesOnly } from '../../../../infra/deploy/buildApp.ts';
import { findAliases } from '../../../../infra/ops/rollback/stackTemplate.ts';
import type { StageSettings } from '../../../../infra/stages/stageSettings.ts';
import { listUsedTables } from '../../../../infra/stages/stages.ts';
import { type TableName, tableNames, tables } from '../../../../infra/stages/tables.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';
import { suites } from '../../../conformance/operations/suites.ts';
import {
  built,
  builtCommit,
  type CfnResource,
  changedProduction,
  findProperties,
  findResources,
  synthesizeProduction,
  templates,
} from '../../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../../support/stageFixtures.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { codeBucket } from '../../ops/rollback/stackEngine.ts';
import { compile } from '../watch/readAlarms.ts';

// `templates.txt` has all properties of two operations; these tests check each operation's own, and relations.

const { folder } = openTemporaryFolder();

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
      VERSION_DIGEST: expect.stringMatching(/^[0-9a-f]{16}$/),
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
    'petstore-production-getInventoryEntry': 0,
    'petstore-production-listInventory': 50,
  });
});

it('lets the functions use a restored table, and keeps the table that it replaces', () => {
  const { service } = changedProduction();
  const restored = findProperties(service, 'AWS::Lambda::Function').filter(
    ({ Environment }) => Environment?.Variables?.ORDERS_TABLE === 'orders-restored',
  );
  const users = operationIds.filter((id) => listUsedTables(id).includes('orders'));
  // The hook reads it too.
  expect(restored).toHaveLength(users.length + 1);
  const granted = findProperties(service, 'AWS::IAM::Policy')
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .find((statement) => JSON.stringify(statement).includes(':table/orders-restored'));
  // Earlier versions use the first table until nobody calls them any more.
  const first = { 'Fn::GetAtt': [expect.stringMatching(/^ordersTable/), 'Arn'] };
  expect(granted.Resource).toEqual([expect.anything(), first]);
});

const unchanged = built.production;
/** From the longest name of a commit. */
const renamed = synthesizeProduction({}, 'c'.repeat(64));
const release = (commit: string) => ({ commit, digests: mapOperations(() => expect.any(String)) });
const readRelease = (template: Template) =>
  findProperties(template, 'AWS::SSM::Parameter').find(({ Name }) => Name.endsWith('/release'));

it('another commit changes the output and the parameter alone that name it', () => {
  const { service, watch } = renamed;
  const [one, other] = [unchanged.service, service].map((template) => {
    const { Outputs, Resources, ...others } = structuredClone(template.toJSON());
    const { Value, Name } = readRelease(template);
    expect(Name).toBe('/petstore-production/release');
    expect(JSON.parse(Value)).toEqual(release(Outputs.Commit.Value));
    const [id] = Object.entries<CfnResource>(Resources).find(
      ([, { Properties }]) => Properties?.Value === Value,
    ) as [string, CfnResource];
    expect(Resources[id].DependsOn).toHaveLength(operationIds.length);
    for (const alias of Resources[id].DependsOn)
      expect(Resources[alias].Type).toBe('AWS::Lambda::Alias');
    Resources[id].Properties.Value = '';
    Outputs.Commit.Value = '';
    return { Outputs, Resources, ...others };
  });
  expect(other).toEqual(one);
  expect(watch.toJSON()).toEqual(unchanged.watch.toJSON());
});

it('a release with ten times as many operations fits into its parameter', () => {
  const { Value } = readRelease(renamed.service);
  expect(Value.length * 10).toBeLessThan(4_096);
});

/** By the name of its function: its digest, as variable, description and part of the logical id of its version. */
function readDigests(template: Template): Record<string, string> {
  const functions = template.findResources('AWS::Lambda::Function');
  const versions = Object.entries(template.findResources('AWS::Lambda::Version'));
  expect(versions).toHaveLength(operationIds.length);
  const found = versions.map(([id, { Properties }]) => {
    const { FunctionName, Environment } = functions[Properties.FunctionName.Ref]?.Properties ?? {};
    const digest: string = Properties.Description;
    expect(id).toContain(`Version${digest}`);
    expect(Environment.Variables.VERSION_DIGEST).toBe(digest);
    return [FunctionName.replace('petstore-production-', ''), digest];
  });
  const digests = Object.fromEntries(found);
  expect(JSON.parse(readRelease(template).Value).digests).toEqual(digests);
  return digests;
}

it('a rollback finds in the template each alias with its version, and the bucket of the code', () => {
  const template: { Resources: Record<string, CfnResource> } =
    templates.production.toJSON() as never;
  const found = findAliases(fixtures.production, template as never);
  const live = found.map(({ operationId, version, resource }) => {
    const { Description } = template.Resources[version]?.Properties ?? {};
    return [operationId, { [operationId]: Description }, resource.UpdatePolicy !== undefined];
  });
  const digests = readDigests(templates.production);
  const expected = operationIds.map((id) => [id, { [id]: digests[id] }, true]);
  expect(live.toSorted()).toEqual(expected.toSorted());
  for (const { Code } of findProperties(templates.production, 'AWS::Lambda::Function')) {
    expect(Code.S3Bucket).toEqual(codeBucket);
  }
});

const { memoryMegabytes, throttles } = fixtures.production.settings;
// Where the digest stays, Lambda would find no difference to publish.
it.each([
  [
    'memory, and no concurrency, throttle or owner,',
    {
      memoryMegabytes: { ...memoryMegabytes, updateInventory: 333 },
      reservedConcurrency: { getInventoryEntry: 7 },
      throttles: { ...throttles, getInventoryEntry: { rate: 1, burst: 1 } },
      owner: 'another team',
    },
    ['updateInventory'],
  ],
  ['variable', { allowedOrigins: ['https://other.example'] }, operationIds],
  ['level of the log', { logLevel: 'DEBUG' as const }, operationIds],
] as const)(
  'a changed %s makes other versions of the functions that have it',
  (_, changes, changed) => {
    const before = readDigests(unchanged.service);
    const after = readDigests(synthesizeProduction(changes as Partial<StageSettings>).service);
    expect(operationIds.filter((id) => after[id] !== before[id])).toEqual(changed);
  },
);

it('another hash of the CDK makes no other versions', () => {
  const flags = {
    '@aws-cdk/aws-lambda:recognizeVersionProps': false,
    '@aws-cdk/aws-lambda:recognizeLayerVersion': true,
  };
  const context = { ...templatesOnly.context, ...flags };
  const props = { ...templatesOnly, outdir: folder, context };
  const app = buildApp(props, [fixtures.production], builtCommit);
  const { template } = app.synth().getStackByName('petstore-production');
  expect(readDigests(Template.fromJSON(template))).toEqual(readDigests(unchanged.service));
});

// Change statefulResources.json only by hand, so that nobody overlooks a change that would replace or orphan data.
// A difference means a new, empty table for a deployment with a full one.
const committed = readFileSync(new URL('statefulResources.json', import.meta.url), 'utf8');

// Which tables can be restored stands in `templates.txt`.
it.each(fixtureNames)(
  'the data of %s is in the committed tables, with the same ids, names and keys',
  (stage) => {
    const found = Object.entries(findResources(stage, 'AWS::DynamoDB::Table')).map(
      ([id, { Properties, DeletionPolicy, UpdateReplacePolicy }]) => {
        const { protectsData } = fixtures[stage].settings;
        const policy = protectsData ? 'Retain' : 'Delete';
        expect([DeletionPolicy, UpdateReplacePolicy]).toEqual([policy, policy]);
        expect(Properties.DeletionProtectionEnabled).toBe(protectsData);
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

/** The newest version's minutes: 0 goes on, otherwise the number says why it is rolled back. */
const sound = { crashed: 0, calls: 100, failed: 0, refused: 0, slow: 0 };
const reasons: [
  what: string,
  change: Partial<Record<keyof typeof sound, number>>,
  reason: number,
][] = [
  ['all is well', {}, 0],
  ['nobody calls', { calls: 0 }, 0],
  ['the first of a few calls crashes', { crashed: 1, calls: 1 }, 1],
  ['1 of 20 calls fails', { failed: 1, calls: 20 }, 2],
  ['1 of 21 calls fails', { failed: 1, calls: 21 }, 0],
  ['1 of 19 calls fails', { failed: 1, calls: 19 }, 0],
  ['3 of 3 calls fail', { failed: 3, calls: 3 }, 2],
  ['3 of 61 calls fail', { failed: 3, calls: 61 }, 0],
  ['10 of 20 calls are refused', { refused: 10, calls: 20 }, 3],
  ['19 of 19 calls are refused', { refused: 19, calls: 19 }, 0],
  ['9 of 20 calls are refused', { refused: 9, calls: 20 }, 0],
  ['1 of a few calls is slow', { slow: 1, calls: 5 }, 0],
  ['2 of a few calls are slow', { slow: 2, calls: 5 }, 4],
  ['10 of 1,000 calls are slow', { slow: 10, calls: 1_000 }, 4],
  ['9 of 1,000 calls are slow', { slow: 9, calls: 1_000 }, 0],
  ['a crash is slow too', { crashed: 1, slow: 9 }, 1],
];

it.each(reasons)('a deployment is rolled back, or not, if %s', (_, change, reason) => {
  const groups = findProperties(templates.production, 'AWS::CodeDeploy::DeploymentGroup');
  for (const id of operationIds) {
    const group = groups.find(({ ApplicationName }) =>
      JSON.stringify(ApplicationName).includes(id),
    );
    const [{ Name }] = group?.AlarmConfiguration.Alarms ?? [];
    const { Properties } = findResources('production', 'AWS::CloudWatch::Alarm')[Name.Ref] ?? {};
    const { crashed, calls, failed, refused, slow } = { ...sound, ...change };
    const values: Record<string, number | undefined> = {
      [`${id}Crashed`]: crashed || undefined,
      [`${id}Calls`]: calls || undefined,
      [`${id}Failed`]: failed || undefined,
      [`${id}Refused`]: refused || undefined,
      [`${id}InTime`]: calls ? 100 - (100 * slow) / calls : undefined,
    };
    const read = Properties.Metrics.filter(
      ({ MetricStat }: CfnResource['Properties']) => MetricStat,
    );
    const { Expression } = Properties.Metrics.find(
      (one: { Expression?: string }) => one.Expression,
    );
    const ids = read.map((one: { Id: string }) => one.Id);
    expect(ids).toEqual(expect.arrayContaining(Object.keys(values)));
    const value = compile(ids, Expression)(ids.map((one: string) => values[one]));
    expect([id, value]).toEqual([id, reason]);
    expect(value >= Properties.Threshold).toBe(reason > 0);
    // Only the new version, for the whole of any rollout.
    for (const { MetricStat } of read) {
      expect(MetricStat.Period).toBe(900);
      expect(JSON.stringify(MetricStat.Metric.Dimensions)).toMatch(/"(Executed)?Version"/);
    }
  }
});
