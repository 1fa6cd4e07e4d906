import { describe, expect, it } from 'vitest';
import { operationIds, operations } from '../../../shared/contract/operations.ts';
import { findResources, synthesizeProduction } from '../../support/stackTemplates.ts';
import { compile } from '../watch/nights/evaluate.ts';

const alarms = Object.entries(findResources('production', 'AWS::CloudWatch::Alarm'));
const groups = Object.values(findResources('production', 'AWS::CodeDeploy::DeploymentGroup'));

it.each(['canary10PercentFor5Minutes', 'linear10PercentEveryMinute'] as const)(
  'with %s, every version proves itself first, once all that this needs is there',
  (rollout) => {
    const { service } = synthesizeProduction({ rollout });
    const { Resources } = service.toJSON();
    const [[hook] = []] = Object.entries(service.findResources('AWS::Lambda::Function')).filter(
      ([, { Properties }]) => Properties.FunctionName === 'petstore-production-hook',
    );
    const aliases = Object.values(service.findResources('AWS::Lambda::Alias'));
    expect(aliases).toHaveLength(operationIds.length);
    for (const { DependsOn, UpdatePolicy } of aliases) {
      const { CodeDeployLambdaAliasUpdate: update } = UpdatePolicy;
      expect(update.BeforeAllowTrafficHook).toEqual({ Ref: hook });
      expect(DependsOn).toContain(update.DeploymentGroupName.Ref);
      const policies = DependsOn.map((name: string) => Resources[name]).filter(
        ({ Type }: { Type: string }) => Type === 'AWS::IAM::Policy',
      );
      expect(JSON.stringify(policies)).toContain(`"lambda:InvokeFunction","Effect":"Allow"`);
      expect(JSON.stringify(policies)).toContain(`{"Fn::GetAtt":["${hook}","Arn"]}`);
    }
  },
);

it('gives the hook what it calls, and nothing else', () => {
  const [policy] = Object.values(findResources('production', 'AWS::IAM::Policy')).filter(
    ({ Properties }) => /^HookRole/.test(Properties.PolicyName),
  );
  const statements: { Action: string | string[]; Resource: unknown }[] =
    policy?.Properties.PolicyDocument.Statement;
  const actions = statements.flatMap(({ Action }) => Action);
  expect([...new Set(actions)].sort()).toEqual([
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
  const anything = statements.filter(({ Resource }) => JSON.stringify(Resource).includes('"*"'));
  expect(anything.flatMap(({ Action }) => Action)).toEqual(
    actions.filter((one) => /Target/.test(one)),
  );
  const keys = statements.filter(({ Resource }) =>
    JSON.stringify(Resource).includes('apiKeysTable'),
  );
  expect(keys.flatMap(({ Action }) => Action)).toEqual(['dynamodb:PutItem', 'dynamodb:DeleteItem']);
});

describe('the roll-back of a deployment', () => {
  it('depends on four alarms of each function, and none of other functions', () => {
    for (const id of operationIds) {
      const names = ['Errors', 'ServerErrors', 'ClientErrors', 'Latency'].map(
        (one) => `${id}Rollback${one}`,
      );
      const isOwn = (logicalId: string) => logicalId.startsWith(`${id}Rollback`);
      const own = alarms.map(([logicalId]) => logicalId).filter(isOwn);
      expect(own.map((logicalId) => logicalId.slice(0, -8))).toEqual(names);
      const looksAt = groups.map(({ Properties }) =>
        Properties.AlarmConfiguration.Alarms.map(({ Name }: never) => Object(Name).Ref),
      );
      expect(looksAt).toContainEqual(own);
    }
    expect(alarms).toHaveLength(4 * operationIds.length);
  });

  it('looks at no older minute where one has no call', () => {
    const isFilled = ({ Expression = '' }) => /^(IF\()?FILL\(/.test(Expression);
    for (const [logicalId, { Properties }] of alarms) {
      expect(Properties.Metrics?.filter(isFilled), logicalId).toHaveLength(1);
    }
  });

  it('depends only on the new version', () => {
    for (const [logicalId, { Properties }] of alarms) {
      const metrics = Properties.Metrics?.flatMap(
        ({ MetricStat }: typeof Properties) => MetricStat?.Metric ?? [],
      ) ?? [Properties];
      for (const { Dimensions, Namespace } of metrics) {
        const name = Namespace === 'AWS/Lambda' ? 'ExecutedVersion' : 'Version';
        const version = Dimensions.find((one: typeof Properties) => one.Name === name)?.Value;
        expect(version?.['Fn::GetAtt'], logicalId).toEqual([expect.any(String), 'Version']);
      }
    }
  });

  it('watches the first byte of a streamed list and the duration of other calls, by version', () => {
    for (const id of operationIds) {
      const [, alarm] = alarms.find(([name]) => name.startsWith(`${id}RollbackLatency`)) ?? [];
      const first = operations[id].streamed ? `${id}FirstByte` : 'Duration';
      const [, stat] = alarm?.Properties.Metrics ?? [];
      expect(stat.MetricStat.Metric.MetricName).toBe(first);
    }
    const filters = Object.values(findResources('production', 'AWS::Logs::MetricFilter'));
    const counted = filters.flatMap(({ Properties }) => Properties.MetricTransformations);
    expect(counted).toContainEqual(
      expect.objectContaining({
        MetricName: 'listInventoryFirstByte',
        Dimensions: [{ Key: 'Version', Value: '$.message.version' }],
      }),
    );
  });

  it('counts 5xx as the sum of a metric, and 4xx as further samples of it', () => {
    const filters = Object.values(findResources('production', 'AWS::Logs::MetricFilter'));
    const values = filters
      .flatMap(({ Properties }) => Properties.MetricTransformations)
      .filter(({ MetricName }) => MetricName === 'getPetErrors')
      .map(({ MetricValue }) => MetricValue);
    expect(values).toEqual(['1', '0']);
    const stats = ['Server', 'Client'].map((kind) => {
      const [, alarm] = alarms.find(([name]) => name.startsWith(`getPetRollback${kind}`)) ?? [];
      return alarm?.Properties.Metrics[1].MetricStat;
    });
    expect(stats).toMatchObject([
      { Metric: { MetricName: 'getPetErrors' }, Stat: 'Sum' },
      { Metric: { MetricName: 'getPetErrors' }, Stat: 'SampleCount' },
    ]);
  });

  it.each([
    ['half of 20', 10, 20, true],
    ['all of 19', 19, 19, false],
    ['9 of 20', 9, 20, false],
    ['none of 100', undefined, 100, false],
    ['no calls', undefined, undefined, false],
  ])('with 404 in %s: %s of %s', (_, refused, calls, isTakenBack) => {
    expect(isFiring('getPetRollbackClient', ['clientErrors', 'calls'], [refused, calls])).toBe(
      isTakenBack,
    );
  });

  it.each([
    ['1 in 20', 1, 20, true],
    ['1 in 21', 1, 21, false],
    ['1 of 19', 1, 19, false],
    ['2 of 2', 2, 2, false],
    ['3 of 3', 3, 3, true],
    ['3 of 59', 3, 59, true],
    ['3 of 61', 3, 61, false],
    ['none of 100', undefined, 100, false],
    ['no calls', undefined, undefined, false],
  ])('with 5xx in %s: %s of %s', (_, failed, calls, isTakenBack) => {
    expect(isFiring('getPetRollbackServer', ['failed', 'calls'], [failed, calls])).toBe(
      isTakenBack,
    );
  });
});

function isFiring(name: string, ids: string[], values: (number | undefined)[]): boolean {
  const [, alarm] = alarms.find(([logicalId]) => logicalId.startsWith(name)) ?? [];
  const { Metrics, Threshold } = alarm?.Properties ?? {};
  const { Expression } = Metrics.find((one: { Expression?: string }) => one.Expression);
  return compile(ids, Expression)(values) >= Threshold;
}
