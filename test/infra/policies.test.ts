import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkStacks } from '../../infra/ops/rollback/checkAliases.ts';
import { petstore } from '../../infra/petstore.ts';
import { projectRoot } from '../../infra/stages/projectRoot.ts';
import { toNames } from '../../infra/stages/resourceNames.ts';
import { templates } from '../support/stackTemplates.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';
import { AwsError, type Call, describeStack, useAws } from './ops/aws.ts';
import { callOps } from './ops/opsProcess.ts';

interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: string | readonly string[];
}
type RoleName = 'deploy' | 'verify' | 'on-call' | 'keys' | 'export' | 'execution';

const account = '123456789012';
const files = globSync('infra/policies/*.json', { cwd: projectRoot });
const read = (path: string) => readFileSync(join(projectRoot, path), 'utf8');
const statementsOf = (role: RoleName): Statement[] =>
  JSON.parse(read(`infra/policies/${role}.json`)).Statement;
const actionsOf = (role: RoleName) => statementsOf(role).flatMap(({ Action }) => Action);

/** Whether the role may do this in a stage, by IAM's rules: it has the tag `stage`, and `*` is any text. */
function isAllowed(role: RoleName, action: string, arn: string, stage = 'staging'): boolean {
  const matches = (pattern: string) => {
    const filled = pattern
      .replaceAll(`\${aws:PrincipalTag/stage}`, stage)
      .replaceAll(`\${aws:PrincipalAccount}`, account);
    return new RegExp(`^${filled.replace(/[.$]/g, '\\$&').replaceAll('*', '.*')}$`).test(arn);
  };
  return statementsOf(role).some(
    ({ Action, Resource }) => [Action].flat().includes(action) && [Resource].flat().some(matches),
  );
}

/** A call's action, and the resources that IAM looks at. */
function toRequest({ service, operation, input }: Call): [action: string, arns: string[]] {
  const { StackName, FunctionName, Name, TableName, logGroupName, logGroupNames } = input;
  const logGroups = [logGroupNames ?? logGroupName ?? []].flat();
  const resources = [
    ...(StackName ? [`stack/${StackName}/1f-2e`] : []),
    ...(FunctionName ? [`function:${FunctionName}`] : []),
    ...(Name ? [`parameter${Name}`] : []),
    ...(TableName ? [`table/${TableName}`] : []),
    ...logGroups.map((name) => `log-group:${name}:*`),
  ];
  const name = service.replace('monitoring', 'cloudwatch');
  const arns = resources.map((one) => `arn:aws:${name}:eu-west-1:${account}:${one}`);
  return [`${name}:${operation}`, arns.length > 0 ? arns : ['*']];
}

/** Holds each call against the policy, in the stage and in another. */
function expectAllowed(role: RoleName, calls: readonly Call[]): void {
  expect(calls.length).toBeGreaterThan(1);
  for (const [action, arns] of calls.map(toRequest)) {
    for (const arn of arns) {
      expect([action, arn, isAllowed(role, action, arn)]).toEqual([action, arn, true]);
      if (arn !== '*') expect(isAllowed(role, action, arn, 'production')).toBe(false);
    }
  }
}

/** What each command calls, besides `cloudformation:DescribeStacks`. */
const calledBy = {
  keys: [
    ...['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem', 'dynamodb:Scan'],
    ...['ssm:GetParameter', 'ssm:PutParameter'],
  ],
  export: ['dynamodb:DescribeTable', 'dynamodb:Scan'],
  status: [
    ...['cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData', 'codedeploy:ListDeployments'],
    ...['codedeploy:ListDeploymentTargets', 'dynamodb:DescribeTable', 'lambda:GetAlias'],
    ...['lambda:GetFunctionConcurrency', 'lambda:ListVersionsByFunction', 'logs:StartQuery'],
    ...['logs:GetQueryResults', 'sns:GetTopicAttributes', 'ssm:GetParameter'],
    'ssm:GetParameterHistory',
  ],
  // CloudFormation updates the stack with the role that deployed it.
  rollback: [
    ...['codedeploy:ListDeployments', 'codedeploy:ListDeploymentTargets'],
    ...['codedeploy:StopDeployment', 'lambda:GetAlias', 'lambda:ListVersionsByFunction'],
    ...['lambda:UpdateAlias', 'ssm:GetParameter', 'ssm:GetParameterHistory', 'ssm:PutParameter'],
    ...['cloudformation:GetTemplate', 'cloudformation:ListStackResources'],
    ...['cloudformation:UpdateStack', 's3:PutObject'],
  ],
  smoke: [
    ...['ssm:GetParameter', 'lambda:GetAlias', 'lambda:ListVersionsByFunction'],
    'ssm:GetParameterHistory',
  ],
  // And the saved queries in the console.
  'aws logs tail': [
    ...['logs:FilterLogEvents', 'logs:StartQuery', 'logs:GetQueryResults'],
    ...['logs:DescribeQueryDefinitions', 'logs:DescribeLogGroups'],
  ],
};

function toActions(...commands: (keyof typeof calledBy)[]): string[] {
  return ['cloudformation:DescribeStacks', ...commands.flatMap((name) => calledBy[name])];
}
const toSorted = (actions: readonly string[]) => [...new Set(actions)].sort();

it('each role has one file, which can be attached as it stands', () => {
  const names = ['deploy', 'execution', 'export', 'keys', 'on-call', 'trust', 'verify'];
  expect(files.toSorted()).toEqual(names.map((name) => `infra/policies/${name}.json`));
  for (const file of files.filter((name) => !name.endsWith('trust.json'))) {
    const content = read(file);
    // IAM's limit for the policies of a role, without the white space.
    expect(content.replace(/\s/g, '').length).toBeLessThan(10_240);
    // IAM replaces variables only behind the fifth colon of an ARN.
    for (const [arn] of content.matchAll(/arn:[^"]+/g)) {
      expect(arn.split(':').slice(0, 5).join(':')).not.toContain('$');
    }
    expect(content).not.toMatch(/ACCOUNT|REGION|STAGE/);
    expect(content.replace(/\$\{aws:Principal(Account|Tag\/stage)\}/g, '')).not.toContain('$');
  }
});

it('GitHub may take a role only for an environment, from the main branch', () => {
  const [statement, ...others] = JSON.parse(read('infra/policies/trust.json')).Statement;
  expect(others).toEqual([]);
  const claims = 'token.actions.githubusercontent.com';
  expect(statement).toEqual({
    Effect: 'Allow',
    Action: 'sts:AssumeRoleWithWebIdentity',
    Principal: { Federated: `arn:aws:iam::ACCOUNT:oidc-provider/${claims}` },
    Condition: {
      StringEquals: {
        [`${claims}:aud`]: 'sts.amazonaws.com',
        [`${claims}:sub`]: 'repo:OWNER/REPOSITORY:environment:ENVIRONMENT',
        [`${claims}:ref`]: 'refs/heads/main',
      },
    },
  });
});

describe('the actions of a role are those of its commands', () => {
  it('verify: the smoke test, and a comparison of templates', () => {
    const expected = [...toActions('smoke'), 'cloudformation:GetTemplate'];
    expect(toSorted(actionsOf('verify'))).toEqual(toSorted(expected));
    const stack = (name: string) => `arn:aws:cloudformation:eu-west-1:${account}:stack/${name}/1f`;
    for (const [name, isReadable] of [
      ['petstore-staging-watch', true],
      ['petstore-production', false],
    ] as const) {
      expect(isAllowed('verify', 'cloudformation:GetTemplate', stack(name))).toBe(isReadable);
    }
    // A change set would need more.
    const lines = read('.github/workflows/deploy.yml').match(/cdk diff .*/g) ?? [];
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain(' --app cdk.out --method template ');
  });

  it('keys: every command on keys', () => {
    expect(toSorted(actionsOf('keys'))).toEqual(toSorted(toActions('keys')));
  });

  it('export: a nightly export, and a bucket for it', () => {
    const expected = [...toActions('export'), 's3:PutObject'];
    expect(toSorted(actionsOf('export'))).toEqual(toSorted(expected));
    const bucket = (name: string) => `arn:aws:s3:::${name}/2026-12-24/stock.csv`;
    const isWritable = (name: string) => isAllowed('export', 's3:PutObject', bucket(name));
    expect(isWritable(`petstore-staging-exports-${account}`)).toBe(true);
    expect(isWritable('petstore-staging-exports-210987654321')).toBe(false);
    const keys = `arn:aws:dynamodb:eu-west-1:${account}:table/petstore-staging-apiKeys`;
    expect(isAllowed('export', 'dynamodb:Scan', keys)).toBe(false);
  });

  it('on-call: the commands and the lines of the runbook, and an update after a rollback', () => {
    const lines = read('infra/RUNBOOK.md').match(/(?<=^|`|\$\()aws (?!logs)\w+ [\w-]+/gm) ?? [];
    const toAction = (line: string) => {
      const [, service, words = ''] = line.split(' ');
      // A wait looks at the status again and again.
      if (words === 'wait') return `${service}:DescribeStacks`;
      const name = words.replace(/(?:^|-)(\w)/g, (_, first) => first.toUpperCase());
      return `${service}:${name.replace('IpSet', 'IPSet')}`;
    };
    expect(lines).toContain('aws lambda put-function-concurrency');
    const expected = [
      ...toActions('status', 'rollback', 'smoke', 'aws logs tail'),
      // Who may deploy deletes a stack.
      ...lines.map(toAction).filter((action) => action !== 'cloudformation:DeleteStack'),
      // A rollback names it while an update is under way.
      'cloudformation:CancelUpdateStack',
      // CloudFormation reads a large template by it.
      's3:GetObject',
      // And the parameters of the template.
      'ssm:GetParameters',
      // Emails link to it.
      'cloudwatch:GetDashboard',
    ];
    expect(toSorted(actionsOf('on-call'))).toEqual(toSorted(expected));
    const isVisible = (name: 'staging' | 'production') => {
      const arn = `arn:aws:cloudwatch::${account}:dashboard/${toNames({ name }).stack}`;
      return isAllowed('on-call', 'cloudwatch:GetDashboard', arn);
    };
    expect([isVisible('staging'), isVisible('production')]).toEqual([true, false]);
  });

  it('on-call: writing the two sets of blocked addresses, and no other', () => {
    const isWritable = (name: string, stage = 'staging') =>
      ['wafv2:GetIPSet', 'wafv2:UpdateIPSet'].every((action) => {
        const arn = `arn:aws:wafv2:eu-west-1:${account}:regional/ipset/${name}/1f-2e`;
        return isAllowed('on-call', action, arn, stage);
      });
    for (const family of [4, 6] as const) {
      const name = toNames({ name: 'staging' }).toBlockedSet(family);
      expect(isWritable(name)).toBe(true);
      expect(isWritable(name, 'production')).toBe(false);
    }
    expect(isWritable('petstore-staging-allowed')).toBe(false);
  });

  it('on-call: reading what the template has CloudFormation read with the rights of the caller', () => {
    const { Parameters } = templates.production.toJSON();
    const paths = Object.values<{ Type: string; Default: string }>(Parameters).map(
      ({ Type, Default }) => (Type === 'AWS::SSM::Parameter::Value<String>' ? Default : Type),
    );
    expect(paths).toEqual(['/cdk-bootstrap/hnb659fds/version']);
    const isReadable = (path: string) =>
      isAllowed(
        'on-call',
        'ssm:GetParameters',
        `arn:aws:ssm:eu-west-1:${account}:parameter${path}`,
      );
    expect(paths.every(isReadable)).toBe(true);
    expect(isReadable('/petstore-staging/check-key')).toBe(false);
  });

  it('execution: the services of the templates, and roles of the stacks alone', () => {
    const types = read('test/infra/templates.txt').matchAll(/^ {2}AWS::(\w+)::/gm);
    const services = [...types]
      .map(([, name = '']) => name.toLowerCase())
      .filter((name) => name !== 'iam');
    expect(services).toContain('budgets');
    const whole = actionsOf('execution').filter((action) => /^(?!iam).*:\*$/.test(action));
    expect(toSorted(services.map((name) => `${name}:*`))).toEqual(toSorted(whole));
    const roles = statementsOf('execution').filter(({ Action }) => `${Action}`.includes('iam:'));
    expect(roles.map(({ Sid, Effect, Resource }) => [Sid, Effect, [Resource].flat()])).toEqual([
      ['RolesOfTheStacks', 'Allow', ['arn:aws:iam::*:role/petstore-*']],
      [
        'NotTheRolesOfPipelineAndPeople',
        'Deny',
        files
          .map((file) => file.replace(/^.*\/|\.json$/g, ''))
          .filter((name) => !['execution', 'trust'].includes(name))
          .toSorted()
          .map((name) => `arn:aws:iam::*:role/petstore-*-${name}`),
      ],
      ['RolesThatServicesMakeForThemselves', 'Allow', ['arn:aws:iam::*:role/aws-service-role/*']],
    ]);
    // IAM's limit for a managed policy, which the bootstrap takes.
    expect(read('infra/policies/execution.json').replace(/\s/g, '').length).toBeLessThan(6_144);
  });

  it('deploy: the roles of the CDK, and a comparison before', () => {
    expect(toSorted(actionsOf('deploy'))).toEqual([
      'cloudformation:DescribeStacks',
      'cloudformation:GetTemplate',
      'cloudformation:ListStackResources',
      'lambda:GetAlias',
      'sts:AssumeRole',
    ]);
    const toRole = (of: string, kind: string) =>
      `arn:aws:iam::${of}:role/cdk-hnb659fds-${kind}-role-${of}-eu-west-1`;
    for (const kind of ['deploy', 'file-publishing', 'lookup']) {
      expect(isAllowed('deploy', 'sts:AssumeRole', toRole(account, kind))).toBe(true);
      expect(isAllowed('deploy', 'sts:AssumeRole', toRole('210987654321', kind))).toBe(false);
    }
  });
});

it.each([
  ['verify', 'smoke --light --expect-commit'],
  ['keys', 'keys list'],
  ['keys', 'keys create --name till --permission read'],
  ['keys', 'keys revoke 0123456789 --yes'],
  ['keys', 'keys check'],
  ['export', 'export --inventory -'],
  ['on-call', 'status'],
  ['on-call', 'rollback --yes'],
  ['on-call', 'smoke --light'],
] as const)('%s may do what `%s` calls, in its own stage alone', async (role, typed) => {
  const names = toNames({ name: 'staging' });
  const outputs = {
    BaseUrl: 'https://127.0.0.1:9/v1',
    ApiKeysTableName: names.toTable('apiKeys'),
    InventoryTableName: names.toTable('inventory'),
  };
  const aws = await useAws({
    ...describeStack(names.stack, outputs),
    GetParameter() {
      throw new AwsError('ParameterNotFound', '');
    },
    ListDeployments: () => ({}),
    DescribeTable: () => ({ Table: { ItemCount: 0 } }),
    GetItem: () => ({}),
    Scan: () => ({ Items: [] }),
    PutItem: () => ({}),
    GetMetricData: () => ({ MetricDataResults: [] }),
    StartQuery: () => ({ queryId: 'one' }),
    GetQueryResults: () => ({ status: 'Complete', results: [] }),
  });
  const words = [...typed.split(' '), '--stage', 'staging'];
  await callOps(petstore, words, aws.variables);
  expectAllowed(role, aws.calls);
});

it('deploy may do what the check before it calls, in its own stage alone', async () => {
  const names = toNames({ name: 'staging' });
  const toTemplate = (version: string) => {
    const fn = {
      Type: 'AWS::Lambda::Function',
      Properties: { FunctionName: names.toFunction('updateInventory') },
    };
    const Properties = { FunctionName: { Ref: 'Pet' }, FunctionVersion: { Ref: version } };
    return { Resources: { Pet: fn, Live: { Type: 'AWS::Lambda::Alias', Properties } } };
  };
  const aws = await useAws({
    ...describeStack(names.stack),
    GetTemplate: () => ({ TemplateBody: JSON.stringify(toTemplate('Last')) }),
    ListStackResources: () => ({
      StackResourceSummaries: [{ LogicalResourceId: 'Last', PhysicalResourceId: 'arn:1' }],
    }),
    GetAlias: () => ({ FunctionVersion: '1' }),
  });
  const { write, folder } = openTemporaryFolder();
  write(`${names.stack}.template.json`, JSON.stringify(toTemplate('Next')));
  const check = (typed: string[]) => checkStacks(folder, typed);
  const { stderr, status } = await callOps(check, [names.watchStack], aws.variables);
  expect([status, stderr]).toEqual([0, '']);
  expect(new Set(aws.calls.map((call) => toRequest(call)[0]))).toEqual(
    new Set(actionsOf('deploy').filter((action) => action !== 'sts:AssumeRole')),
  );
  expectAllowed('deploy', aws.calls);
});
