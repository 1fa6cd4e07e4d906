import { exec } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import cdkJson from '../../../cdk.json' with { type: 'json' };
import { type CommandText, commandNames, commands } from '../../../infra/cli/commands.ts';
import { toErrorLine } from '../../../infra/cli/errorLine.ts';
import { toCount } from '../../../infra/cli/output.ts';
import { defineProgress } from '../../../infra/cli/progress.ts';
import { MAX_REQUESTS } from '../../../infra/ops/smoke/smokeClient.ts';
import { petstore } from '../../../infra/petstore.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import type { StageSettings } from '../../../infra/stages/stageSettings.ts';
import { stages } from '../../../infra/stages/stages.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { operationIds } from '../../../shared/contract/operations.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { AwsError, describeReleases, describeStack, type Responses, serve, useAws } from './aws.ts';
import { callOps, changeSettings, runOps, startOps } from './opsProcess.ts';

const { write } = openTemporaryFolder();
const pets = write('pets.jsonl', '{"id":1}\n');

const wholeKey = `psk_0123456789${'x'.repeat(32)}`;

/** The beginnings and ends of invalid command lines; `refusals.txt` has what is said of each. */
const refused = [
  [
    '',
    'imprt',
    'toString',
    '--stage staging',
    'status --stge production',
    'status',
    'smoke --stage toString',
  ],
  ['keys', 'rotat', wholeKey, 'list', 'list --stage staging --endpoint http://127.0.0.1:9'],
  // An option of another subcommand.
  ['keys', 'list --grace 1h'],
  ['keys list --endpoint', 'nowhere', 'ftp://a'],
  ['keys list --expiring', 'soon', '-1h', '3654d'],
  ['keys revoke --endpoint http://127.0.0.1:9', `${wholeKey} more`],
  ['keys revoke', '--endpoint http://127.0.0.1:9'],
  ['keys create --permission read --name', 'a\tb', '', 'a'.repeat(65)],
  ['keys create --name a --permission read --expires', '90', '0s', '2027-02-30', '2026-01-31'],
  ['keys create --name a --permission read --expires', '2027-01-31T18:00:00', '31.1.2027'],
  ['export', '--stage', '--stage staging surplus', '-x'],
  [
    'rollback --stage staging --to',
    'short',
    'getDog=1',
    'getInventoryEntry=0',
    'aaaaaaaaaaa1 getInventoryEntry=2',
  ],
  ['import --max-wcu', '0', '1.5', '10000000'],
  [
    '',
    'smoke',
    'smoke --base-url http://example.com/v1',
    'smoke --base-url https://example.com/v2',
  ],
  ['smoke --base-url', 'https://example.com/v1?a=/v1', 'https://example.com/v1'],
  ['smoke --base-url https://example.com/v1', '--stage staging', '--expect-commit'],
  [
    'costs',
    'moth',
    'report --json',
    'report 2026-13',
    'report 2026-11 x.csv --account 1',
    '--entires 5',
    '--times 0',
  ],
  ['costs --entries', '1e3', '-1'],
  ['costs prices --region', '../x', 'europe'],
  ['start --port', '65536', '80x', '-1', ''],
  ['start --lose', '2', '-0.1', '1.1'],
  ['start --delay', '200', '30s'],
  ['start --fail', '503', '200:0.1', '503:1.5', '503:0.6 --fail 429:0.5'],
].flatMap(([begin = '', ...ends]) =>
  ends.map((end) => [...(begin === '' ? [] : begin.split(' ')), ...end.split(' ')]),
);

describe('petstore', () => {
  test.each(['', 'help', '--help', '-h'])('%j lists the commands', async (typed) => {
    const { status, stdout } = await callOps(petstore, typed.split(' ').filter(Boolean));
    expect(status).toBe(0);
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name} .*[A-Z]`, 'm'));
  });

  it('refuses each invalid command line in one line, with status 2', async () => {
    const screens: string[] = [];
    for (const typed of refused) {
      const { status, stdout, stderr } = await callOps(petstore, typed);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^[^\n]+\n$/);
      expect(stderr).not.toContain(wholeKey);
      screens.push(`$ petstore ${typed.join(' ').trimEnd()}\n${stderr}`);
    }
    const screen = screens.join('\n').replaceAll(operationIds.join(', '), 'EVERY OPERATION');
    await expect(screen).toMatchFileSnapshot('refusals.txt');
  });

  it('is a command that npx finds, and says its version', async () => {
    const file = packageJson.bin.petstore;
    accessSync(join(projectRoot, file), constants.X_OK);
    const version = { status: 0, stdout: `${packageJson.version}\n`, stderr: '' };
    expect(await runOps([file, '--version'])).toEqual(version);
  });

  it('reads files of the folder where npx is typed', async () => {
    const cwd = join(projectRoot, 'infra/ops');
    const file = relative(cwd, pets);
    const typed = `npx petstore import --pets ${file} --endpoint http://127.0.0.1:9`;
    await expect(promisify(exec)(typed, { cwd })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:9'),
    });
  });
});

const helps = Object.entries<CommandText>(commands).flatMap(([name, text]) => [
  [name, text] as const,
  ...Object.entries(text.subcommands ?? {}).map(([word, one]) => [`${name} ${word}`, one] as const),
]);

it.each(helps)('the help of %s has every option, and fits 80 columns', async (name, text) => {
  const words = name.split(' ');
  const help = await callOps(petstore, [...words, '--help']);
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help.stdout).toMatch(`Usage: npx petstore ${name}`);
  for (const line of help.stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
  const named = [...help.stdout.matchAll(/^ {2}--([\w-]+)/gm)].map(([, option]) => option);
  expect(named).toEqual(Object.keys(text.options ?? {}));
  expect(await callOps(petstore, ['help', ...words])).toEqual(help);
  if (text.subcommands) expect(await callOps(petstore, words)).toMatchObject({ status: 0 });
});

it('the help of smoke states how many requests it sends', () => {
  expect(commands.smoke.about.join(' ')).toContain(`at most ${MAX_REQUESTS} requests`);
});

it('every line of petstore in a text has a command and options that exist', () => {
  const pattern = ['*.{md,toml}', '.github/**/*.yml', '{infra,shared,test}/**/*.{md,ts,txt}'];
  const lines = globSync(pattern, { cwd: projectRoot }).flatMap((file) => [
    ...readFileSync(join(projectRoot, file), 'utf8').matchAll(
      /npx petstore ([a-z][\w-]*)(?: ([a-z][\w-]*))?([^\n`'"|#)…]*)/g,
    ),
  ]);
  expect(lines.length).toBeGreaterThan(100);
  for (const [line, name = '', word, words = ''] of lines) {
    const texts = new Map<string, CommandText>(helps);
    const group = texts.get(name);
    const text = texts.get(`${name} ${word}`) ?? texts.get(`${name} ${group?.default}`) ?? group;
    if (name !== 'help') expect(text, line).toBeDefined();
    for (const [, option = ''] of words.matchAll(/--(?!help\b)([\w-]+)/g)) {
      expect(text?.options, line).toHaveProperty(option);
    }
  }
});

const bin = 'infra/petstore.js';
const noSpace = /^The standard output cannot be written \(ENOSPC: [^\n]+\n$/;
const nothing = /^$/;

it.each([
  ['ends silently', [bin, 'keys', '--help'], { stdout: 'left' }, 141, nothing],
  ['says so in one line', [bin, 'keys', '--help'], { stdout: 'full' }, 1, noSpace],
  ['ends without its errors', [bin, 'keys', '--bogus'], { stderr: 'left' }, 2, nothing],
  ['ends with a full disk', [bin, 'keys', '--bogus'], { stderr: 'full' }, 2, nothing],
] as const)('a command whose output nobody reads %s', async (_, words, readers, status, told) => {
  if (Object.values(readers).includes('full') && !existsSync('/dev/full')) return;
  const outcome = await runOps(words, readers);
  expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(told) });
});

it.each(['keys list', 'import --inventory empty.csv', 'export --inventory saved.csv', 'status'])(
  '%s ends at once on Ctrl-C while AWS does not respond',
  async (line) => {
    const file = write('empty.csv', 'petId,quantity,status\n');
    using silent = await serve();
    const asked = once(silent.server, 'request');
    const variables = {
      AWS_ENDPOINT_URL: silent.address,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'y',
    };
    const args = [bin, ...line.replace(/\S+csv/, file).split(' '), '--stage', 'staging'];
    const { child, exited } = startOps(args, { variables });
    await asked;
    child.kill('SIGINT');
    expect(await exited).toBe('SIGINT');
  },
);

describe('a command of package.json', () => {
  const tooOld = /^This needs Node\.js \d+ and runs on 23\.9\.1: run "npm ci .*\.\n$/;
  it.each([
    ['says in one line what to do', '23.9.1', [bin, 'keys'], 1, tooOld],
    ['says so before another program runs', '23.9.1', ['infra/cli/run.js'], 1, tooOld],
    ['gets its arguments', '100.1.0', [bin, 'keys', 'list'], 2, /^Give either --stage/],
    ['says nothing before another program runs', '24.0.0', ['infra/cli/run.js'], 0, nothing],
  ])('%s on Node.js %s', async (_, node, words, status, told) => {
    const version = `Object.defineProperty(process,'versions',{value:{node:'${node}'}})`;
    const variables = { NODE_OPTIONS: `--import "data:text/javascript,${version}"` };
    const outcome = await runOps(words, { variables });
    expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(told) });
  });

  // Biome is not JavaScript, the SBOM's tool runs on any Node.js, and the CDK runs the app, which is added below.
  const { format: _format, sbom: _sbom, synth, ...scripts } = packageJson.scripts;
  it('looks at the version first, or has the CDK look at it', () => {
    for (const line of [...Object.values(scripts), cdkJson.app]) {
      expect(line).toMatch(/^(exec )?node infra\/(cli\/run\.js (&& .+|\S+\.ts)|petstore\.js \w+)$/);
    }
    expect(synth).toMatch(/^cdk /);
  });
});

/** That of yesterday. */
const month = new Date(Date.now() - 86_400_000).toISOString().slice(0, 7);
/** The arguments of a command, and the AWS services that it calls. */
const staged = {
  keys: ['list --stage staging', 'cloudformation dynamodb'],
  export: ['--pets pets.jsonl --stage staging', 'cloudformation dynamodb'],
  status: ['--stage staging', 'cloudformation codedeploy dynamodb lambda logs monitoring ssm'],
  rollback: ['--yes --stage staging', 'cloudformation codedeploy lambda ssm'],
  costs: [`report ${month} --stage staging`, 'cloudformation logs monitoring'],
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
    const aws = await useAws({
      ...stack,
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

it.each([
  'rollback --yes',
  'smoke --light',
  'keys list',
  'keys create --name till --permission read',
  'keys revoke 0123456789 --yes',
  'keys check',
  `import --pets ${pets} --overwrite --yes`,
  `export --pets ${pets}`,
  'status',
  `costs report ${month}`,
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
  const toRefusal = (field: string) => [
    expect.stringMatching(`^infra/stages/stages.ts: staging.${field}: [^\n]+\n$`),
  ];
  if (!/^(rollback|smoke|keys revoke|status)/.test(typed)) {
    expect(await end({ baseAddress: 'api.shop.test/v1' })).toEqual(toRefusal('baseAddress'));
  }
  // Also beside another wrong setting, before and after it.
  const wrong = { owner: undefined, account: '12' } as object;
  expect(await end({ region: 'eu-west-9', baseAddress: 'https://a.test/v1' })).toEqual(
    toRefusal('region'),
  );
  expect(await end({ region: 'eu-west-1', ...wrong })).toEqual(toRefusal('account'));
});

/** Settings that an incident needs no command to know, each with what is said of it. */
const unneeded: Readonly<Record<string, readonly [changes: object, said: string]>> = {
  'a time out of range': [
    { quietMinutes: 9_999, raisesAlarms: true },
    'quietMinutes: Too big: expected number to be <=1440; it is 9999',
  ],
  'a misspelt name': [{ qietMinutes: 15 }, 'Unrecognized key: "qietMinutes"'],
  'no throttles and origins': [
    { throttles: undefined, allowedOrigins: undefined },
    'allowedOrigins: must be set.\nthrottles: must be set',
  ],
  'a rate of 0': [
    {
      throttles: { ...stages.staging.settings.throttles, getInventoryEntry: { rate: 0, burst: 0 } },
    },
    'throttles.getInventoryEntry.rate: Too small: expected number to be >0; it is 0',
  ],
  'no maximum of a table': [{ maximumUnitsPerSecond: {} }, 'maximumUnitsPerSecond.inventory: must'],
  'settings that do not fit': [
    { firewallRequestsPerAddress: 100, firewall: false },
    'firewallRequestsPerAddress: must not be set without the firewall; it is 100',
  ],
};
describe.each(Object.entries(unneeded))('with %s', (_, [changes, said]) => {
  it.each(['rollback --yes', 'smoke --light', 'keys revoke 0123456789 --yes', 'status'])(
    '%s says so, and goes on',
    async (typed) => {
      changeSettings(stages.staging, changes);
      const elsewhere = describeStack('petstore-elsewhere');
      const { calls, variables } = await useAws(elsewhere);
      const words = [...typed.split(' '), '--stage', 'staging'];
      const { stderr } = await callOps(petstore, words, variables);
      expect(calls.map(({ operation }) => operation)).toEqual(['DescribeStacks']);
      const lines = stderr.trim().split('\n');
      expect(lines.at(-1)).toMatch(/^There is no stack petstore-staging /);
      const warnings = lines.slice(0, -1);
      for (const line of warnings)
        expect(line).toMatch(/^Warning: infra.stages.stages.ts: staging/);
      for (const one of said.split('\n')) expect(warnings.join('\n')).toContain(one);
    },
  );
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
  [
    'rollback',
    { ...stack, ListDeployments: () => ({}), ...describeReleases(() => []) },
    'Lambda: UnknownOperationException: ',
  ],
  ['keys', describeStack('another'), elsewhere],
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
  const folders = '{cli,costs,docs,local,ops,stages}';
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

it('long work says every ten seconds how far it is, how fast, and how long it takes', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { stderr } = await callOps(async () => {
    using progress = defineProgress('Loading');
    for (const done of [500, 1_000, 1_500, 2_000, 2_500, 3_000]) {
      vi.advanceTimersByTime(5_000);
      // A total can be too low, or unknown.
      progress.report(done, done < 2_500 ? done / 20_000 : done / 2_000);
    }
    vi.advanceTimersByTime(10_000);
    progress.report(4_000, 0);
  }, []);
  expect(stderr.split('\n')).toEqual([
    'Loading: 5 %, 100 rows/s, 3 min left, 1,000 rows.',
    'Loading: 10 %, 100 rows/s, 3 min left, 2,000 rows.',
    'Loading: 100 %, 100 rows/s, 0 s left, 3,000 rows.',
    'Loading: 0 %, 100 rows/s, unknown time left, 4,000 rows.',
    '',
  ]);
});

it('counts one row and several', () => {
  const rows = [0, 1, 1.4, 1_000].map((count) => toCount(count, 'row'));
  expect(rows).toEqual(['0 rows', '1 row', '1 row', '1,000 rows']);
});
