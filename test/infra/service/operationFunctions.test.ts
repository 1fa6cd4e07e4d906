import type { Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { type TableName, tables } from '../../../infra/stages/tables.ts';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { suites } from '../../conformance/operations/suites.ts';
import {
  builtCommit,
  type CfnResource,
  findResources,
  synthesizeProduction,
  templates,
} from '../../support/stackTemplates.ts';
import { fixtureNames, fixtures } from '../../support/stageFixtures.ts';

/** Everything that a function may use of the data: the contract of its role and its environment. */
function toAccess(id: OperationId): Partial<Record<TableName, readonly string[]>> {
  return { apiKeys: ['dynamodb:GetItem'], ...suites[id].access };
}

describe.each(fixtureNames)('the functions of %s', (stage) => {
  const functions = findResources(stage, 'AWS::Lambda::Function');
  const policies = Object.values(findResources(stage, 'AWS::IAM::Policy'));
  const tableIds = Object.keys(findResources(stage, 'AWS::DynamoDB::Table'));
  const toTableId = (table: string) => tableIds.find((id) => id.startsWith(`${table}Table`));
  const findFunction = (id: OperationId) =>
    Object.values(functions).find(
      ({ Properties }) => Properties.Description === operations[id].summary,
    ) as CfnResource;

  it('are one for each operation and nothing else', () => {
    expect(Object.keys(functions)).toHaveLength(operationIds.length);
    for (const id of operationIds) expect(findFunction(id)).toBeDefined();
  });

  describe.each(operationIds)('%s', (id) => {
    const { Properties } = findFunction(id);

    it('runs on Node.js 24 and arm64, with JSON logs and tracing', () => {
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        Timeout: operations[id].streamed ? 120 : 28,
        MemorySize: fixtures[stage].settings.memoryMegabytes[id],
        FunctionName: `petstore-${stage}-${id}`,
        LoggingConfig: { LogFormat: 'JSON', ApplicationLogLevel: 'INFO' },
        TracingConfig: { Mode: 'Active' },
      });
    });

    it('may do what it needs to its tables, its log group and X-Ray, and nothing else', () => {
      const role = Properties.Role['Fn::GetAtt'][0];
      const statements = policies
        .filter((policy) =>
          policy.Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role),
        )
        .flatMap((policy) => policy.Properties.PolicyDocument.Statement);
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
      const { Properties: roleProperties } = findResources(stage, 'AWS::IAM::Role')[role] ?? {};
      expect(roleProperties).toBeDefined();
      expect(roleProperties.ManagedPolicyArns ?? []).toEqual([]);
      expect(roleProperties.Policies ?? []).toEqual([]);
    });

    it('is told the names of its tables the allowed origins, the documentation and the commit, and nothing else', () => {
      const names = (Object.keys(toAccess(id)) as TableName[]).map((table) => [
        tables[table].variable,
        { Ref: toTableId(table) },
      ]);
      expect(Properties.Environment.Variables).toEqual({
        ...Object.fromEntries(names),
        ALLOWED_ORIGINS: stage === 'staging' ? '*' : 'https://www.petstore.example',
        DOCUMENTATION_ADDRESS: fixtures[stage].settings.documentationAddress,
        COMMIT: builtCommit,
      });
    });
  });
});

describe('what is live has the name of its commit', () => {
  const versionsOf = (template: Template) =>
    Object.entries(template.findResources('AWS::Lambda::Version'));
  const next = synthesizeProduction({}, 'fedcba987654').service;

  it('on each published version, in a tag of its function, and in an output', () => {
    for (const [, { Properties }] of versionsOf(templates.production)) {
      expect(Properties.Description).toBe(builtCommit);
    }
    for (const { Properties } of Object.values(
      findResources('production', 'AWS::Lambda::Function'),
    ))
      expect(Properties.Tags).toContainEqual({ Key: 'commit', Value: builtCommit });
    expect(templates.production.findOutputs('Commit')).toMatchObject({
      Commit: { Value: builtCommit },
    });
  });

  it('and the same code from another commit is another version, of other settings', () => {
    const ids = versionsOf(templates.production).map(([id]) => id);
    for (const [id, { Properties }] of versionsOf(next)) {
      expect(ids).not.toContain(id);
      expect(Properties.Description).toBe('fedcba987654');
    }
    for (const { Properties } of Object.values(next.findResources('AWS::Lambda::Function')))
      expect(Properties.Environment.Variables.COMMIT).toBe('fedcba987654');
  });
});

function allow(actions: readonly string[], resource: unknown) {
  return {
    Action: actions.length === 1 ? actions[0] : actions,
    Effect: 'Allow',
    Resource: resource,
  };
}

function toArn(logicalId: string | undefined) {
  return { 'Fn::GetAtt': [logicalId, 'Arn'] };
}
