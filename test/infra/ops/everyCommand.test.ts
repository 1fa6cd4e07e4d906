import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toRegion } from '../../../infra/cli/stageOption.ts';
import { petstore } from '../../../infra/petstore.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { stages } from '../../../infra/stages/stages.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { AwsError, describeStack, type Responses, useAws } from './aws.ts';
import { callOps, changeSettings } from './opsProcess.ts';

/** The arguments of a command, and the AWS services that it calls. */
const staged = {
  keys: ['list --stage staging', 'cloudformation dynamodb'],
  export: ['--pets pets.jsonl --stage staging', 'cloudformation dynamodb'],
  logs: ['--stage staging', 'cloudformation logs'],
  night: ['--stage staging', 'cloudformation codedeploy lambda logs monitoring ssm'],
  rollback: ['--yes --stage staging', 'cloudformation codedeploy lambda'],
  costs: ['forecast --stage staging', 'cloudformation logs monitoring'],
  restore: ['--table pets --at latest --stage staging', 'cloudformation dynamodb'],
} as const;
type Staged = keyof typeof staged;
const readme = readFileSync(join(projectRoot, 'infra/ops/README.md'), 'utf8');

const callStaged = (name: Staged, variables: Record<string, string>) =>
  callOps(petstore, [name, ...staged[name][0].split(' ')], variables);
const names = ['ApiKeys', 'Inventory', 'Pets', 'Orders'].map((name) => [`${name}TableName`, name]);
const stack = describeStack('petstore-staging', Object.fromEntries(names));

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

  it.each(Object.keys(staged) as Staged[])('is the default one for %s', async (name) => {
    const groups = [{ ResourceType: 'AWS::CodeDeploy::DeploymentGroup', PhysicalResourceId: 'x' }];
    const aws = await useAws({
      ...stack,
      ListStackResources: () => ({ StackResourceSummaries: groups }),
      ListDeployments: () => ({}),
      GetMetricData: () => ({ MetricDataResults: [] }),
    });
    const { AWS_REGION, ...variables } = aws.variables;
    await callStaged(name, { ...variables, AWS_DEFAULT_REGION: 'us-west-2' });
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['us-west-2']));
    // The permissions of infra/ops/README.md, where CloudWatch has another name.
    const [, permissions = ''] = readme.split(`- **\`${name}\`**: `);
    const [own = ''] = permissions.split('\n- ');
    for (const { service, operation } of aws.calls) {
      if (service === 'cloudformation') continue;
      expect(own).toContain(`\`${service.replace('monitoring', 'cloudwatch')}:${operation}\``);
    }
    const services = new Set(aws.calls.map(({ service }) => service));
    expect([...services].toSorted().join(' ')).toBe(staged[name][1]);
  });
});

describe('a stage whose stack is not where its settings have it', () => {
  const { write } = openTemporaryFolder();
  const pets = write('pets.jsonl', '{"id":1}\n');
  const time = '2026-11-20T09:59:00Z';
  const [day] = new Date(Date.now() - 86_400_000).toISOString().split('T');
  it.each([
    'rollback --yes',
    'smoke --light',
    'keys list',
    'keys create --name till --permission read',
    'keys revoke 0123456789 --yes',
    'keys check',
    `import --pets ${pets} --overwrite --yes`,
    `export --pets ${pets}`,
    `restore --table pets --at ${time}`,
    `restore --table pets --at ${time} --from first`,
    'logs',
    'night',
    `costs by-key --from ${day} --to ${day}`,
  ])('ends %s, before it calls anything else', async (typed) => {
    for (const [wanted, place, found] of [
      [{ account: '111122223333' }, 'eu-west-1:123456789012', '123456789012, eu-west-1'],
      [{ region: 'eu-north-1' }, 'eu-west-1:111122223333', '111122223333, eu-west-1'],
    ] as const) {
      changeSettings(stages.staging, wanted);
      const aws = await useAws(describeStack('petstore-staging', {}, undefined, place));
      const args = [...typed.split(' '), '--stage', 'staging'];
      const outcome = await callOps(petstore, args, aws.variables);
      const { account, region = 'eu-west-1' } = stages.staging.settings;
      expect(outcome).toEqual({
        status: 1,
        stdout: '',
        stderr: `The stack petstore-staging that was found is in account ${found}, and infra/stages/stages.ts puts staging into account ${account}, ${region}: nothing was done. Export AWS_PROFILE of that account, or correct the settings.\n`,
      });
      expect(aws.calls.map(({ operation }) => operation)).toEqual(['DescribeStacks']);
    }
  });
});

const credentials = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a-secret' };
const region = { AWS_REGION: 'eu-west-1' };
const nobody = { ...region, ...credentials, AWS_ENDPOINT_URL: 'http://127.0.0.1:9' };
const controls = () => {
  throw new AwsError('AccessDeniedException', 'not \u202e\u001b[2J you');
};
const elsewhere =
  'There is no stack petstore-staging in eu-west-1 of this account: npm run deploy petstore-staging makes it';

it.each<[Staged, Responses, string, Record<string, string>?]>([
  ['keys', {}, 'export AWS_REGION=', credentials],
  ['export', {}, '; run aws sso login or aws configure', region],
  ['rollback', {}, '; run aws sso login', { ...region, AWS_PROFILE: 'none' }],
  ['keys', {}, 'CloudFormation: connect ECONNREFUSED 127.0.0.1:9; look at the region,', nobody],
  ['keys', { ...stack, Scan: controls }, 'not \\u202e\\u001b[2J you; AWS'],
  ['keys', stack, 'DynamoDB: UnknownOperationException: no Scan in this test'],
  ['rollback', stack, 'CodeDeploy: UnknownOperationException: '],
  ['rollback', { ...stack, ListDeployments: () => ({}) }, 'Lambda: UnknownOperationException: '],
  ['logs', stack, 'CloudWatch Logs: UnknownOperationException: no FilterLogEvents in this test'],
  ['restore', describeStack('another'), elsewhere],
  ['keys', describeStack('petstore-staging'), 'no output ApiKeysTableName: npm run deploy pets'],
])('%s says in one line what is wrong, without a secret: %#', async (...row) => {
  const [name, responses, line, variables] = row;
  const aws = await useAws(responses);
  const outcome = await callStaged(name, variables ?? aws.variables);
  expect(outcome).toMatchObject({ status: 1, stdout: '' });
  expect(outcome.stderr).toMatch(/^[^\n]+\n$/);
  expect(outcome.stderr).toContain(line);
  expect(outcome.stderr).not.toContain('a-secret');
});

it('writes all output where control characters are escaped', () => {
  const folders = '{bulk,cli,docs,local,ops,stages}';
  const files = globSync(`infra/${folders}/**/*.ts`, { cwd: projectRoot });
  const direct = files.filter((file) =>
    /(stdout|stderr)\.write|console\.\w+\(/.test(readFileSync(join(projectRoot, file), 'utf8')),
  );
  // The local stage's functions write to the console that it makes.
  expect(direct.filter((file) => !file.startsWith('infra/local/gateway/'))).toEqual([
    'infra/cli/output.ts',
  ]);
});

it.each(Object.keys(staged) as Staged[])(
  'invalid settings of a stage end %s in one line, before it calls AWS',
  async (name) => {
    changeSettings(stages.staging, { baseAddress: 'api.shop.test/v1' });
    const aws = await useAws(stack);
    const outcome = await callStaged(name, aws.variables);
    expect(outcome).toMatchObject({ status: 1, stdout: '' });
    expect(outcome.stderr).toMatch(/^infra\/stages\/stages\.ts: staging\.baseAddress: [^\n]+\n$/);
    expect(aws.calls).toEqual([]);
  },
);
