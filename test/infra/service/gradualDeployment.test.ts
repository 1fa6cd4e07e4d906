import { expect, it } from 'vitest';
import { operationIds } from '../../../shared/contract/operations.ts';
import { findResources, synthesizeProduction } from '../../support/stackTemplates.ts';
import { compile } from '../watch/nights/evaluate.ts';

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

// `templates/*.txt` have all alarms of a function, with what they look at, and the group that they stop.
it.each<
  [
    string,
    name: string,
    counted: string,
    count: number | undefined,
    calls: number | undefined,
    boolean,
  ]
>([
  ['404 in half of 20', 'Client', 'clientErrors', 10, 20, true],
  ['404 in all of 19', 'Client', 'clientErrors', 19, 19, false],
  ['404 in 9 of 20', 'Client', 'clientErrors', 9, 20, false],
  ['404 in none of 100', 'Client', 'clientErrors', undefined, 100, false],
  ['no calls', 'Client', 'clientErrors', undefined, undefined, false],
  ['5xx in 1 of 20', 'Server', 'failed', 1, 20, true],
  ['5xx in 1 of 21', 'Server', 'failed', 1, 21, false],
  ['5xx in 1 of 19', 'Server', 'failed', 1, 19, false],
  ['5xx in 2 of 2', 'Server', 'failed', 2, 2, false],
  ['5xx in 3 of 3', 'Server', 'failed', 3, 3, true],
  ['5xx in 3 of 59', 'Server', 'failed', 3, 59, true],
  ['5xx in 3 of 61', 'Server', 'failed', 3, 61, false],
  ['5xx in none of 100', 'Server', 'failed', undefined, 100, false],
  ['no calls', 'Server', 'failed', undefined, undefined, false],
])(
  'takes a deployment back, or not, with %s: %sErrors',
  (_, name, counted, count, calls, isTakenBack) => {
    const alarms = Object.entries(findResources('production', 'AWS::CloudWatch::Alarm'));
    const [, alarm] = alarms.find(([id]) => id.startsWith(`getPetRollback${name}`)) ?? [];
    const { Metrics, Threshold } = alarm?.Properties ?? {};
    const { Expression } = Metrics.find((one: { Expression?: string }) => one.Expression);
    const isFiring = compile([counted, 'calls'], Expression)([count, calls]) >= Threshold;
    expect(isFiring).toBe(isTakenBack);
  },
);
