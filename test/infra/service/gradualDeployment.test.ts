import { expect, it } from 'vitest';
import { findResources } from '../../support/stackTemplates.ts';
import { compile } from '../watch/nights/evaluate.ts';

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
    const isFiring = compile([counted, 'calls'], Expression)([count, calls]) >= Threshold;
    expect(isFiring).toBe(isTakenBack);
  },
);
