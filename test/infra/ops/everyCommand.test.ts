import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { toErrorLine } from '../../../infra/cli/errorLine.ts';
import { defineProgress, toCount, toTime } from '../../../infra/cli/progress.ts';
import { petstore } from '../../../infra/petstore.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
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

it.each(Object.keys(staged) as Staged[])(
  'the region of %s is that of AWS_DEFAULT_REGION without another, and its calls are in the README',
  async (name) => {
    const groups = [{ ResourceType: 'AWS::CodeDeploy::DeploymentGroup', PhysicalResourceId: 'x' }];
    const aws = await useAws({
      ...stack,
      ListStackResources: () => ({ StackResourceSummaries: groups }),
      ListDeployments: () => ({}),
      GetMetricData: () => ({ MetricDataResults: [] }),
    });
    const regions = { AWS_REGION: '', AWS_DEFAULT_REGION: 'us-west-2' };
    await callStaged(name, { ...aws.variables, ...regions });
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
  },
);

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
])('%s ends where the stack is not as in the settings, or these are invalid', async (typed) => {
  const end = async (settings: Partial<StageSettings>, place?: string) => {
    changeSettings(stages.staging, settings);
    const aws = await useAws(describeStack('petstore-staging', {}, undefined, place));
    const variables = { ...aws.variables, AWS_DEFAULT_REGION: 'us-east-1' };
    const words = [...typed.split(' '), '--stage', 'staging'];
    const { status, stdout, stderr } = await callOps(petstore, words, variables);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    return [stderr, ...aws.calls.map(({ operation, region }) => `${operation} ${region}`)];
  };
  const told = (found: string, wanted: string) =>
    `The stack petstore-staging that was found is in account ${found}, and infra/stages/stages.ts puts staging into account ${wanted}: nothing was done. Export AWS_PROFILE of that account, or correct the settings.\n`;
  const account = '111122223333';
  expect(await end({ account }, 'eu-west-1:123456789012')).toEqual([
    ...[told('123456789012, eu-west-1', `${account}, eu-west-1`), 'DescribeStacks eu-west-1'],
  ]);
  expect(await end({ region: 'eu-north-1' }, `eu-west-1:${account}`)).toEqual([
    ...[told(`${account}, eu-west-1`, `${account}, eu-north-1`), 'DescribeStacks eu-north-1'],
  ]);
  expect(await end({ baseAddress: 'api.shop.test/v1' })).toEqual([
    expect.stringMatching(/^infra\/stages\/stages\.ts: staging\.baseAddress: [^\n]+\n$/),
  ]);
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

const connection = ['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EPROTO'];
const proxy = ['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'];
type ErrorRow = [name: string, message: string, line: string | RegExp, code?: string];
it.each<ErrorRow>([
  ['Error', 'Region not accepted: region="a b"', 'region="a b"; export AWS_REGION='],
  ...['CredentialsProviderError', 'TokenProviderError', 'ExpiredToken', 'RequestExpired'].map(
    (name): ErrorRow => [name, 'It is\n not there.', `${name}: It is not there; run aws sso login`],
  ),
  ['UnrecognizedClientException', 'Its token', 'Its token; AWS does not know these credentials'],
  ['InvalidClientTokenId', 'Its token', 'Its token; AWS does not know these credentials'],
  ['InvalidSignatureException', 'Signature expired: a', 'date -u.'],
  ['SignatureDoesNotMatch', 'Signature expired: a', 'date -u.'],
  ['OptInRequired', 'A subscription', 'in this region'],
  ['AccessDenied', 'No.', 'AccessDenied: No; AWS refuses this: have it allowed'],
  ['ThrottlingException', 'Rate exceeded', 'Rate exceeded; wait a minute, and run the same'],
  ['TooManyRequestsException', 'Rate exceeded', 'Rate exceeded; wait a minute, and run the same'],
  ['ProvisionedThroughputExceededException', 'Slow', 'Slow; wait a minute'],
  ['ResourceNotFoundException', 'Requested resource not found', '"A deleted table" in infra/OPE'],
  ['TableNotFoundException', 'Table not found: a', '"A deleted table" in infra/OPERATIONS.md.'],
  ['SyntaxError', "Unexpected '<'\n  Deserialization error: see", '; look at the region, --e'],
  ['TimeoutError', 'the request socket timed out', 'timed out; look at the region, --endpoint'],
  ['Error', 'database or disk is full', 'disk is full; export SQLITE_TMPDIR=FOLDER, one with'],
  ...connection.map((code): ErrorRow => ['Error', 'it failed', 'failed; look at the region', code]),
  ...proxy.map((code): ErrorRow => ['Error', 'it failed', 'it failed; behind a proxy', code]),
  // Nothing is to be done by itself.
  ['ResourceNotFoundException', 'The specified log group does not exist.', /exist\.$/],
  ['PreconditionFailedException', 'It has changed.', /^PreconditionFailedException: .*changed\.$/],
])('the line of %s, %s, says what to do next', (name, message, line, code) => {
  const error = Object.assign(new Error(message), { name, code });
  expect(toErrorLine(error)).toMatch(line);
  expect(toErrorLine(error)).not.toContain('\n');
});

it('the line of a name with several addresses is that of the first', () => {
  const errors = [new Error('connect ECONNREFUSED ::1:9'), new Error('other')];
  const error = Object.assign(new AggregateError(errors), { code: 'ECONNREFUSED' });
  expect(toErrorLine(error)).toMatch(/^connect ECONNREFUSED ::1:9; look at/);
});

const clear = '\r\x1b[K';
const line = 'Loading: 25% of 1,000,000 rows, 250,000 rows/s, 0:03 left';
const tenth = 'Loading: 10% of 100,000 rows, 2,000 rows/s, 0:45 left\n';
const wide = { isTTY: true, columns: 100 };
const narrow = { ...wide, columns: 40 };
const million = 1_000_000;

/** The rows that are done some milliseconds after each other, and the output at each update and at the end. */
it.each<[string, object, number | undefined, after: number[], done: number[], string[]]>([
  ['redrawn in place', wide, million, [1_000, 50], [250_000, 260_000], [clear + line, '', clear]],
  ['never too wide', narrow, million, [1_000], [250_000], [clear + line.slice(0, 39), clear]],
  ['a line now and then', {}, 100_000, [4_999, 1], [10_000, 10_000], ['', tenth, '']],
  ['without a total', {}, undefined, [5_000], [1], ['Loading: 1 row, 0 rows/s\n', '']],
])('the progress is %s', (_, screen, total, after, done, expected) => {
  const written: string[] = [];
  const write = (text: string) => written.push(text);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue({ ...screen, write } as never);
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.restoreAllMocks().useRealTimers());
  const progress = defineProgress('Loading', total);
  const look = () => written.splice(0).join('');
  const shown = after.map((milliseconds, index) => {
    vi.advanceTimersByTime(milliseconds);
    progress.update(done[index] ?? 0);
    return look();
  });
  progress.clear();
  expect([...shown, look()]).toEqual(expected);
});

it('counts one row and several, and writes times like a clock', () => {
  const rows = [0, 1, 1.4, 1_000].map((count) => toCount(count, 'row'));
  expect(rows).toEqual(['0 rows', '1 row', '1 row', '1,000 rows']);
  expect([0, 6.2, 61, 3_661].map(toTime)).toEqual(['0:00', '0:07', '1:01', '1:01:01']);
});
