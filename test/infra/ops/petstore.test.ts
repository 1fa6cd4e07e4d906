import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
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
import { stages } from '../../../infra/stages/stages.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { operationIds } from '../../../shared/contract/operations.ts';
import { skipBackOff } from '../../support/faults/clock.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';
import { AwsError, describeStack, type Responses, serve, useAws } from './aws.ts';
import { callOps, changeSettings, runOps } from './opsProcess.ts';

const { write } = openTemporaryFolder();
const pets = write('pets.jsonl', '{"id":1}\n');

const wholeKey = `psk_0123456789${'x'.repeat(32)}`;

const oneOf = "Give either --stage staging|production or an emulator's --endpoint. See --help.";
const target = 'Give either --stage or --base-url; --expect-commit takes --stage.';
const duration =
  'It must be a number with s, m, h or d, such as 24h or 90d, and at most ten years.';
const end = 'It must be a day ahead such as 2027-01-31, a time with its zone such as';
const keyName = 'It must be 1 to 64 letters, digits, dots, dashes, underscores or @, such as';
const url = 'It must be a URL such as http://127.0.0.1:8000. See --help.';
const stageUrl = 'It must be the https address of a stage, such as https://x.execute-api';
const versions = '--to must be a commit, at least its first 7 characters, or versions such as';
const failures =
  "Option '--fail' must be such as 503:0.1, with a share from 0 to 1 and one of 400, 401";
const revoke = 'keys revoke --endpoint http://127.0.0.1:9';
const create = 'keys create --name a --permission read --expires';

/** Invalid command lines, and what is said of each. */
const refused: readonly (readonly [typed: string, said: string])[] = [
  ['imprt', "unknown command 'imprt' (Did you mean import?). See --help."],
  ['toString', "unknown command 'toString'. See --help."],
  ['--stage staging', "unknown option '--stage'. See --help."],
  ['status --stge production', "unknown option '--stge' (Did you mean --stage?). See --help."],
  ['status', "option '--stage <STAGE>' is missing. See --help."],
  ['smoke --stage toString', "'toString' is invalid. Allowed choices are staging, production."],
  ['export --stage staging surplus', 'Expected 0 arguments but got 1: surplus. See --help.'],
  [`keys ${wholeKey}`, "unknown command 'psk_0123456789…'. See --help."],
  ['keys list', oneOf],
  // An option of another subcommand.
  ['keys list --grace 1h', "unknown option '--grace'. See --help."],
  ['keys list --endpoint nowhere', `'nowhere' is invalid. ${url}`],
  ['keys list --expiring -1h', `'-1h' is invalid. ${duration}`],
  ['keys list --expiring 3654d', `'3654d' is invalid. ${duration}`],
  [`${revoke} ${wholeKey} more`, 'Expected 1 argument but got 2: psk_0123456789…, more. See'],
  [revoke, "missing required argument 'KEY'. See --help."],
  ['keys create --permission read --name a\tb', keyName],
  [`keys create --permission read --name ${'a'.repeat(65)}`, keyName],
  [`${create} 90`, `'90' is invalid. ${end}`],
  [`${create} 0s`, `'0s' is invalid. ${end}`],
  [`${create} 2027-02-30`, `'2027-02-30' is invalid. ${end}`],
  [`${create} 2026-01-31`, `'2026-01-31' is invalid. ${end}`],
  [`${create} 2027-01-31T18:00:00`, `'2027-01-31T18:00:00' is invalid. ${end}`],
  ['rollback --stage staging --to short', `${versions} `],
  ['rollback --stage staging --to getDog=1', 'it is "getDog=1".'],
  ['rollback --stage staging --to getInventoryEntry=0', 'it is "getInventoryEntry=0".'],
  [
    'rollback --stage staging --to aaaaaaaaaaa1 getInventoryEntry=2',
    `=12 of ${operationIds.join(', ')}; it is "aaaaaaaaaaa1".`,
  ],
  ['import --max-wcu 0', "'0' is invalid. It must be a whole number from 1 to 9999999. See"],
  ['import --max-wcu 10000000', 'It must be a whole number from 1 to 9999999. See --help.'],
  ['smoke', target],
  ['smoke --base-url https://example.com/v1 --stage staging', target],
  ['smoke --base-url https://example.com/v1 --expect-commit', target],
  ['smoke --base-url http://example.com/v1', stageUrl],
  ['smoke --base-url https://example.com/v1?a=/v1', stageUrl],
  [
    'smoke --base-url https://example.com/v1',
    'key in PETSTORE_API_KEY must be psk_ and 42 letters',
  ],
  ['costs report', "missing required argument 'BILL'. See --help."],
  ['costs report x.csv --month 2026-13', 'It must be a month such as 2026-10. See --help.'],
  ['costs --times 0', "'0' is invalid. It must be a number above 0, such as 2 or 0.5. See"],
  ['costs --entries 1e3', "'1e3' is invalid. It must be a whole number. See --help."],
  ['start --port 65536', "'65536' is invalid. It must be a whole number from 0 to 65535. See"],
  ['start --lose 1.1', "'1.1' is invalid. It must be a share from 0 to 1, such as 0.1. See"],
  ['start --delay 30s', "'30s' is invalid. It must be a time such as 200ms or 2s, at most 29s."],
  ['start --fail 503', failures],
  ['start --fail 200:0.1', failures],
  ['start --fail 503:1.5', failures],
  ['start --fail 503:0.6 --fail 429:0.5', "The shares of '--fail' must add up to at most 1, not"],
];

describe('petstore', () => {
  test.each(['', 'help', '--help', '-h'])('%j lists the commands', async (typed) => {
    const { status, stdout } = await callOps(petstore, typed.split(' ').filter(Boolean));
    expect(status).toBe(0);
    for (const name of commandNames) expect(stdout).toMatch(new RegExp(`^  ${name} .*[A-Z]`, 'm'));
  });

  it.each(refused)('refuses %j in one line, with status 2', async (typed, said) => {
    const { status, stdout, stderr } = await callOps(petstore, typed.split(' '));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain(wholeKey);
  });

  it('says its version', async () => {
    const version = { status: 0, stdout: `${packageJson.version}\n`, stderr: '' };
    expect(await callOps(petstore, ['--version'])).toEqual(version);
  });

  it('is a program, and reads files of the folder where it is typed', async () => {
    // As npx starts it.
    const bin = join(projectRoot, packageJson.bin.petstore);
    const cwd = join(projectRoot, 'infra/ops');
    const file = relative(cwd, pets);
    const typed = ['import', '--pets', file, '--endpoint', 'http://127.0.0.1:9'];
    await expect(promisify(execFile)(bin, typed, { cwd })).rejects.toMatchObject({
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
  // The changelog has commands of earlier releases too.
  const files = globSync(pattern, { cwd: projectRoot }).filter((file) => file !== 'CHANGELOG.md');
  const lines = files.flatMap((file) => [
    ...readFileSync(join(projectRoot, file), 'utf8').matchAll(
      /npx petstore ([a-z][\w-]*)(?: ([a-z][\w-]*))?([^\n`'"|#)…]*)/g,
    ),
  ]);
  expect(lines).not.toEqual([]);
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
  ['says so in one line', [bin, 'keys', '--help'], { stdout: 'full' }, 1, noSpace],
  ['ends without its errors', [bin, 'keys', '--bogus'], { stderr: 'left' }, 2, nothing],
] as const)('a command whose output nobody reads %s', async (_, words, readers, status, told) => {
  if (Object.values(readers).includes('full') && !existsSync('/dev/full')) return;
  const outcome = await runOps(words, readers);
  expect(outcome).toEqual({ status, stdout: '', stderr: expect.stringMatching(told) });
});

it.each(['keys list', 'import --inventory empty.csv', 'export --inventory saved.csv', 'status'])(
  '%s ends at once on Ctrl-C while AWS does not respond',
  async (line) => {
    onTestFinished(skipBackOff());
    const file = write('empty.csv', 'petId,quantity,status\n');
    using silent = await serve();
    const asked = once(silent.server, 'request');
    const variables = {
      AWS_ENDPOINT_URL: silent.address,
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'y',
    };
    const args = [...line.replace(/\S+csv/, file).split(' '), '--stage', 'staging'];
    // Without a listener of its own, the system ends a process.
    const before = process.listeners('SIGINT');
    const running = callOps(petstore, args, variables);
    await asked;
    expect(process.listeners('SIGINT')).toEqual(before);
    silent[Symbol.dispose]();
    await running;
  },
);

describe('a command of package.json', () => {
  const tooOld = /^This needs Node\.js \d+ and runs on 23\.9\.1: run "npm ci .*\.\n$/;
  it.each([
    ['says in one line what to do', '23.9.1', [bin, 'keys'], 1, tooOld],
    ['says nothing before another program runs', '100.1.0', ['infra/cli/run.js'], 0, nothing],
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

/** The arguments of commands that call AWS. */
const staged = {
  keys: 'list --stage staging',
  export: '--pets pets.jsonl --stage staging',
  status: '--stage staging',
  rollback: '--yes --stage staging',
} as const;
type Staged = keyof typeof staged;

const callStaged = (name: Staged, variables: Record<string, string>) =>
  callOps(petstore, [name, ...staged[name].split(' ')], variables);
const names = ['ApiKeys', 'Inventory', 'Pets', 'Orders'].map((name) => [`${name}TableName`, name]);
const stack = describeStack('petstore-staging', Object.fromEntries(names));

it.each(Object.keys(staged) as Staged[])(
  'the region of %s is that of AWS_DEFAULT_REGION without another',
  async (name) => {
    const aws = await useAws({
      ...stack,
      ListDeployments: () => ({}),
      GetMetricData: () => ({ MetricDataResults: [] }),
    });
    const regions = { AWS_REGION: '', AWS_DEFAULT_REGION: 'us-west-2' };
    await callStaged(name, { ...aws.variables, ...regions });
    expect(new Set(aws.calls.map(({ region }) => region))).toEqual(new Set(['us-west-2']));
  },
);

const account = '111122223333';

/** Runs a command on a stage with other settings. @returns what it says, and its calls */
async function endOn(typed: string, settings: object, place?: string, name = 'petstore-staging') {
  changeSettings(stages.staging, settings);
  const aws = await useAws(describeStack(name, {}, undefined, place));
  const variables = { ...aws.variables, AWS_DEFAULT_REGION: 'us-east-1' };
  const words = [...typed.split(' '), '--stage', 'staging'];
  const { status, stdout, stderr } = await callOps(petstore, words, variables);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  return [stderr, ...aws.calls.map(({ operation, region }) => `${operation} ${region}`)];
}

const toOther = (found: string, wanted: string) =>
  `The stack petstore-staging that was found is in account ${found}, and infra/stages/stages.ts puts staging into account ${wanted}: nothing was done. Export AWS_PROFILE of that account, or correct the settings.\n`;
const toInvalid = (field: string) => [
  expect.stringMatching(`^infra/stages/stages.ts: staging.${field}: [^\n]+\n$`),
];

it.each([
  'rollback --yes',
  'smoke --light',
  'keys revoke 0123456789 --yes',
  `import --pets ${pets} --overwrite --yes`,
  `export --pets ${pets}`,
  'status',
])('%s ends where the stack is in another account, or the settings are invalid', async (typed) => {
  expect(await endOn(typed, { account }, 'eu-west-1:123456789012')).toEqual([
    ...[toOther('123456789012, eu-west-1', `${account}, eu-west-1`), 'DescribeStacks eu-west-1'],
  ]);
  if (!/^(rollback|smoke|keys|status)/.test(typed)) {
    const wrong = { baseAddress: 'api.shop.test/v1' };
    expect(await endOn(typed, wrong)).toEqual(toInvalid('baseAddress'));
  }
  // Also beside another wrong setting.
  const wrong = { owner: undefined, account: '12' };
  expect(await endOn(typed, wrong)).toEqual(toInvalid('account'));
});

it('a command ends where the stack is in another region, or no region is set', async () => {
  expect(await endOn('status', { region: 'eu-north-1' }, `eu-west-1:${account}`)).toEqual([
    ...[toOther(`${account}, eu-west-1`, `${account}, eu-north-1`), 'DescribeStacks eu-north-1'],
  ]);
  const wrong = { region: 'eu-west-9', baseAddress: 'https://a.test/v1' };
  expect(await endOn('status', wrong)).toEqual(toInvalid('region'));
});

/** Settings that an incident needs no command to know, each with what is said of it. */
const unneeded: readonly (readonly [typed: string, changes: object, said: string])[] = [
  [
    'rollback --yes',
    { quietMinutes: 9_999, raisesAlarms: true },
    'quietMinutes: Too big: expected number to be <=1440; it is 9999',
  ],
  ['smoke --light', { qietMinutes: 15 }, 'must not have "qietMinutes": delete it'],
  [
    'keys revoke 0123456789 --yes',
    { throttles: undefined, allowedOrigins: undefined },
    'allowedOrigins: must be set.\nthrottles: must be set',
  ],
  ['keys rotate 0123456789 --grace 0s --yes', { throttles: undefined }, 'throttles: must be set'],
  [
    'status',
    { firewallRequestsPerAddress: 100, firewall: false },
    'firewallRequestsPerAddress: must not be set without the firewall; it is 100',
  ],
];
it.each(unneeded)(
  '%s says that a setting is wrong, and goes on: %o',
  async (typed, changes, said) => {
    const [stderr, ...calls] = await endOn(typed, changes, undefined, 'petstore-elsewhere');
    expect(calls).toEqual(['DescribeStacks eu-west-1']);
    const lines = `${stderr}`.trim().split('\n');
    expect(lines.pop()).toMatch(/^There is no stack petstore-staging /);
    for (const line of lines) expect(line).toMatch(/^Warning: infra.stages.stages.ts: staging/);
    for (const one of said.split('\n')) expect(lines.join('\n')).toContain(one);
  },
);

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
