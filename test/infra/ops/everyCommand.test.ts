import { afterEach, describe, expect, it } from 'vitest';
import { toRegion } from '../../../infra/cli/stageOption.ts';
import { runExport } from '../../../infra/ops/data/runExport.ts';
import { runKeys } from '../../../infra/ops/keys/runKeys.ts';
import { runLogs } from '../../../infra/ops/logs/runLogs.ts';
import { runRestore } from '../../../infra/ops/restore/runRestore.ts';
import { runRollback } from '../../../infra/ops/rollback/runRollback.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { useNoBackOff } from '../../support/faults/backOff.ts';
import { type Answers, AwsError, startAws } from './aws.ts';
import { commands } from './commands.ts';
import { callOps, type Outcome } from './opsProcess.ts';

const stage = ['--stage', 'staging'];
const staged = {
  keys: { run: runKeys, args: ['list', ...stage] },
  export: { run: runExport, args: ['--pets', 'pets.jsonl', ...stage] },
  rollback: { run: runRollback, args: ['--yes', ...stage] },
  restore: {
    run: (args: string[]) => runRestore(args),
    args: ['--table', 'pets', '--at', 'latest', ...stage],
  },
};
type Name = keyof typeof staged;

const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret' };
const region = { AWS_REGION: 'eu-west-1' };

/** The whole output of a command, which is to be one line, and says nothing of a secret. */
function toLine(outcome: Outcome): string {
  expect(outcome).toMatchObject({ status: 1, stdout: '' });
  expect(outcome.stderr).toMatch(/^[^\n]+\n$/);
  expect(outcome.stderr).not.toContain('a-secret');
  return outcome.stderr;
}

const outputs = ['ApiKeys', 'Inventory', 'Pets', 'Orders'].map((name) => ({
  OutputKey: `${name}TableName`,
  OutputValue: `petstore-staging-${name}`,
}));
const stack = () => ({ Stacks: [{ StackStatus: 'UPDATE_COMPLETE', Outputs: outputs }] });

it('there are commands', () => {
  expect(commands.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'start',
      'keys',
      'import',
      'export',
      'rollback',
      'restore',
      'smoke',
      'costs',
    ]),
  );
});

// That each is a process which ends so as well, `outputs.test.ts` shows, and the tests of each.
describe.each(commands)('npm run $name', ({ name, run }) => {
  it('explains itself by -h as by --help', async () => {
    const long = await callOps(run, ['--help']);
    expect(long).toMatchObject({ status: 0, stderr: '' });
    expect(long.stdout).toMatch(new RegExp(`npm (run )?${name}( |$)`, 'm'));
    expect(await callOps(run, ['-h'])).toEqual(long);
  });

  it('does not know an option that it does not have', async () => {
    expect(await callOps(run, ['--bogus'])).toEqual({
      status: 2,
      stdout: '',
      stderr: "Unknown option '--bogus'. See --help.\n",
    });
  });
});

it.each([
  ['keys', runKeys, ['list', '--bogus'], '--bogus'],
  ['logs', runLogs, ['-x'], '-x'],
] as const)('npm run %s: nor in any other place or form', async (_, run, args, option) => {
  expect(await callOps(run, args)).toEqual({
    status: 2,
    stdout: '',
    stderr: `Unknown option '${option}'. See --help.\n`,
  });
});

describe('the region of a command', () => {
  it('is that of the stage, of AWS_REGION or of AWS_DEFAULT_REGION, in this order', () => {
    const { staging } = stages;
    const elsewhere = { ...staging, settings: { ...staging.settings, region: 'eu-north-1' } };
    const both = { AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-east-1' };
    expect(toRegion(elsewhere, both)).toEqual({ region: 'eu-north-1' });
    expect(toRegion(staging, both)).toEqual({ region: 'eu-west-1' });
    expect(toRegion(staging, { ...both, AWS_REGION: '' })).toEqual({ region: 'us-east-1' });
    expect(toRegion(staging, {})).toEqual({});
  });

  it.each([
    ['keys', ['cloudformation', 'dynamodb']],
    ['export', ['cloudformation', 'dynamodb']],
    ['rollback', ['cloudformation', 'codedeploy', 'lambda']],
    ['restore', ['cloudformation', 'dynamodb']],
  ] as const)('is the default region for npm run %s', async (name, services) => {
    const groups = [{ ResourceType: 'AWS::CodeDeploy::DeploymentGroup', PhysicalResourceId: 'x' }];
    const aws = await startAws({
      DescribeStacks: stack,
      ListStackResources: () => ({ StackResourceSummaries: groups }),
      ListDeployments: () => ({}),
    });
    const { AWS_REGION, ...variables } = aws.variables;
    const { run, args } = staged[name];
    await callOps(run, args, { ...variables, AWS_DEFAULT_REGION: 'ap-south-1' });
    aws.close();
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['ap-south-1']));
    expect(new Set(aws.calls.map(({ service }) => service))).toEqual(new Set(services));
  });
});

describe('a command without its surroundings says what to type', () => {
  it.each([
    ['no region', 'keys', {}, 'export AWS_REGION='],
    ['no region', 'rollback', credentials, 'export AWS_REGION='],
    ['no such region', 'restore', { ...credentials, AWS_REGION: 'eu west' }, 'is no AWS region'],
    ['no credentials', 'export', region, 'There are no AWS credentials: run aws configure'],
    ['no credentials', 'restore', region, 'There are no AWS credentials: run aws configure'],
    [
      'no such profile',
      'keys',
      { ...region, AWS_PROFILE: 'none' },
      'The AWS profile "none" is not',
    ],
    ['no such profile', 'rollback', { AWS_PROFILE: 'none' }, 'The AWS profile "none" is not'],
    [
      'nobody there',
      'export',
      { ...region, ...credentials, AWS_ENDPOINT_URL: 'http://127.0.0.1:9' },
      'Nothing listens at 127.0.0.1:9 (ECONNREFUSED)',
    ],
    [
      'no such host',
      'keys',
      { ...region, ...credentials, AWS_ENDPOINT_URL: 'http://nowhere.invalid' },
      'nowhere.invalid cannot be found (',
    ],
  ] as [string, Name, Record<string, string>, string][])(
    '%s: %s',
    async (_, name, variables, line) => {
      const { run, args } = staged[name];
      expect(toLine(await callOps(run, args, variables))).toContain(line);
    },
  );
});

describe('what AWS refuses is told with what to type', () => {
  useNoBackOff();
  let close = () => {};
  afterEach(() => close());

  async function refuse(name: Name, answers: Answers): Promise<string> {
    const aws = await startAws(answers);
    close = () => void aws.close();
    const { run, args } = staged[name];
    return toLine(await callOps(run, args, aws.variables));
  }
  const noTable = (name: string) => new AwsError('ResourceNotFoundException', name);
  const refused = 'User: arn:aws:iam::1:user/ops is not authorized to perform:';

  it.each([
    ['keys', 'ExpiredToken', 'The token is expired', 'expired (ExpiredToken): run aws sso login'],
    ['rollback', 'InvalidClientTokenId', 'It is invalid', 'does not know these credentials'],
    ['restore', 'SignatureDoesNotMatch', 'The signature', 'does not accept the signature'],
    [
      'export',
      'AccessDenied',
      `${refused} cloudformation:DescribeStacks on resource: arn:aws:x because`,
      'AWS refuses cloudformation:DescribeStacks on arn:aws:x to arn:aws:iam::1:user/ops',
    ],
    ['keys', 'Throttling', 'Rate exceeded', '(Throttling): wait a minute'],
    ...Object.keys(staged).map((name) => [
      name,
      'ValidationError',
      'Stack with id petstore-staging does not exist',
      'There is no stack petstore-staging in eu-west-1 of this account: npm run deploy petstore-staging makes it',
    ]),
  ] as [Name, string, string, string][])(
    'by CloudFormation: %s, %s',
    async (command, name, message, line) => {
      const DescribeStacks = () => {
        throw new AwsError(name, message);
      };
      expect(await refuse(command, { DescribeStacks })).toContain(line);
    },
  );

  it('by DynamoDB: a table that is not there, and an action that is not allowed', async () => {
    const DescribeTable = () => {
      throw noTable('Requested resource not found: Table: petstore-staging-Pets not found');
    };
    const line = await refuse('export', { DescribeStacks: stack, DescribeTable });
    expect(line).toMatch(/^There is no table petstore-staging-Pets .+ infra\/RUNBOOK\.md\.\n$/);
    close();
    const Scan = () => {
      throw new AwsError('AccessDeniedException', `${refused} dynamodb:Scan on resource: arn:x`);
    };
    const denied = await refuse('keys', { DescribeStacks: stack, Scan });
    expect(denied).toContain('AWS refuses dynamodb:Scan on arn:x to arn:aws:iam::1:user/ops');
  });

  it('by Lambda: a function that is not there', async () => {
    const missing = () => {
      throw noTable('Function not found: arn:aws:lambda:eu-west-1:1:function:a:live');
    };
    const line = await refuse('rollback', {
      DescribeStacks: stack,
      ListStackResources: () => ({ StackResourceSummaries: [] }),
      GetAlias: missing,
      ListVersionsByFunction: missing,
    });
    expect(line).toMatch(/^There is no such function, version or alias .+ deploy the stage\.\n$/);
  });

  it('by a stack from before an output was added', async () => {
    const DescribeStacks = () => ({ Stacks: [{ StackStatus: 'UPDATE_COMPLETE', Outputs: [] }] });
    const line = await refuse('keys', { DescribeStacks });
    expect(line).toContain('no output ApiKeysTableName: npm run deploy petstore-staging');
  });
});
