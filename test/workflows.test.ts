import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { projectRoot } from '../infra/stages/projectRoot.ts';
import { mintApiKey } from '../shared/keys/apiKey.ts';
import { openTemporaryFolder } from './support/temporaryFolder.ts';

const files = globSync('.github/workflows/*', { cwd: projectRoot });

interface Job {
  readonly needs?: string | readonly string[];
  readonly environment?: string;
  readonly permissions: Record<string, string>;
  readonly 'timeout-minutes': number;
  readonly steps: readonly {
    if?: string;
    uses?: string;
    run?: string;
    env?: Record<string, string>;
    with?: Record<string, unknown>;
  }[];
}
interface Workflow {
  readonly on: string | Record<string, unknown>;
  readonly permissions: unknown;
  readonly jobs: Record<string, Job>;
}

const allSteps = files.flatMap((file) => read(file).steps);
const toAction = (uses: string) => uses.replace(/@.*/, '');

it('the workflows run the checks, audit the packages and look for secrets', () => {
  expect(allSteps.map(({ run }) => run)).toEqual(
    expect.arrayContaining(['npm run check', 'npm run pages', 'npm audit --audit-level=moderate']),
  );
  expect(allSteps.map(({ uses = '' }) => toAction(uses))).toContain('gitleaks/gitleaks-action');
});

describe.each(files)('%s', (file) => {
  const { text, workflow, jobs, steps } = read(file);

  it('gives each job only its permissions, a checkout without credentials, and a timeout', () => {
    expect(workflow.permissions).toEqual({});
    for (const { permissions, steps, 'timeout-minutes': minutes } of jobs) {
      const find = (name: string) => steps.filter(({ uses }) => uses?.startsWith(`${name}@`));
      const checkouts = find('actions/checkout');
      const usesGitHub = steps.some(({ env }) => env?.GH_TOKEN);
      expect(permissions).toEqual({
        ...((checkouts.length > 0 || usesGitHub) && { contents: 'read' }),
        ...(find('aws-actions/configure-aws-credentials').length > 0 && { 'id-token': 'write' }),
        ...(find('gitleaks/gitleaks-action').length > 0 && { 'pull-requests': 'read' }),
      });
      expect(minutes).toBeLessThanOrEqual(60);
      for (const checkout of checkouts) {
        expect(checkout).toMatchObject({ with: { 'persist-credentials': false } });
      }
    }
  });

  it('pins each action by its hash, followed by the version', () => {
    const uses = text.match(/\buses:.*/g) ?? [];
    expect(uses).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of uses) {
      expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('has no secret in a pull request, and no untrusted text in a command', () => {
    const events = typeof workflow.on === 'string' ? [workflow.on] : Object.keys(workflow.on);
    expect(events).not.toContain('pull_request_target');
    if (events.includes('pull_request')) expect(text).not.toMatch(/\bsecrets[.[]/);
    for (const { run = '' } of steps) {
      expect(run).not.toContain('${{');
    }
  });
});

it('a deployment goes from a tested build to staging, and from a staging that passed to production', () => {
  const { workflow } = read('.github/workflows/deploy.yml');
  expect(workflow.jobs.build?.steps.map(({ run }) => run)).toContain('npm run check');
  // Only two jobs have a role that may deploy, and the environment that it trusts.
  const jobs = Object.entries(workflow.jobs).map(([name, { needs, environment, steps }]) => [
    ...[name, needs, environment],
    ...steps.flatMap((step) => step.with?.['role-to-assume'] ?? []),
  ]);
  const toRole = (name: string) => `\${{ vars.${name}_ROLE_ARN }}`;
  expect(jobs).toEqual([
    ['build', undefined, undefined],
    ['diff-staging', 'build', 'verify-staging', toRole('STAGING_VERIFY')],
    ['diff-production', 'build', 'verify-production', toRole('PRODUCTION_VERIFY')],
    ['staging', 'build', 'staging', toRole('STAGING_DEPLOY')],
    ['verify-staging', 'staging', 'verify-staging', toRole('STAGING_VERIFY')],
    [
      'production',
      ['verify-staging', 'diff-production'],
      'production',
      toRole('PRODUCTION_DEPLOY'),
    ],
    ['verify-production', 'production', 'verify-production', toRole('PRODUCTION_VERIFY')],
  ]);
  // A job that may deploy runs only what the build tested: its scripts, and the CDK of the lock file.
  for (const name of ['staging', 'production']) {
    const lines = workflow.jobs[name]?.steps.flatMap(({ run = [] }) => run) ?? [];
    expect(lines.map((line) => line.split(' ', 2).join(' '))).toEqual([
      'node cdk.out/guard.cjs',
      'live=$(aws cloudformation',
      'node node_modules/aws-cdk/bin/cdk',
    ]);
  }
});

const live = '0123456789ab';
const sha = 'f'.repeat(40);
const notFound = ['{"message":"Not Found","status":"404"}', 'gh: Not Found (HTTP 404)', 1] as const;
const badGateway = ['', 'gh: HTTP 502', 1] as const;
const awsError = (text: string) =>
  ['', `An error occurred (${text}) when calling the DescribeStacks operation`, 254] as const;
const noStack = awsError('ValidationError): Stack with id petstore-production does not exist (');

/** What a command prints on standard output and on standard error, and its status. */
type Reply = readonly [stdout: string, stderr: string, status: number];

it.each<[string, status: number, said: string, stack: Reply, ...comparisons: Reply[]]>([
  ['behind', 1, 'roll back with npx petstore rollback', [live, '', 0], ['behind', '', 0]],
  ['identical', 0, `${sha} is identical.`, [live, '', 0], ['identical', '', 0]],
  ['ahead', 0, `is ${live}. Compared with it, ${sha} is ahead.`, [live, '', 0], ['ahead', '', 0]],
  ['diverged', 0, `${sha} is diverged.`, [live, '', 0], ['diverged', '', 0]],
  ['behind edited files', 1, live, [`${live}-dirty-89abcdef`, '', 0], ['behind', '', 0]],
  ['unknown to GitHub', 0, 'HTTP 404', [live, '', 0], notFound],
  ['of a stack without the output', 0, 'is None.', ['', '', 0], notFound],
  ['of a stack without any output', 0, 'is None.', ['None', '', 0], notFound],
  ['of no stack', 0, 'does not exist', noStack],
  ['ahead, after two errors', 0, 'ahead', [live, '', 0], badGateway, badGateway, ['ahead', '', 0]],
  ['behind, after an error', 1, 'behind', [live, '', 0], badGateway, ['behind', '', 0]],
  [
    'that GitHub does not compare',
    1,
    'HTTP 502',
    [live, '', 0],
    badGateway,
    badGateway,
    badGateway,
  ],
  ['of a stack that cannot be read', 1, 'AccessDenied', awsError('AccessDenied')],
])(
  'a deployment of a commit that is %s ends with status %i',
  (_, status, said, stack, ...replies) => {
    const { workflow } = read('.github/workflows/deploy.yml');
    const steps = ['staging', 'production'].map((name) =>
      workflow.jobs[name]?.steps.find(({ env }) => env?.GH_TOKEN),
    );
    expect(steps[0]).toEqual({ ...steps[1], env: { ...steps[1]?.env, STACK: 'petstore-staging' } });
    const { folder, write, toPath } = openTemporaryFolder();
    for (const [name, own] of Object.entries({ aws: [stack], gh: replies, sleep: [] as Reply[] })) {
      for (const [index, [stdout, stderr, code]] of own.entries()) {
        write(`${name}.${index}`, `echo '${stdout}'; echo '${stderr}' >&2; exit ${code}\n`);
      }
      // Runs the next reply, once.
      const next = `for reply in ${folder}/${name}.[0-9]; do [ -e "$reply" ] && mv "$reply" ${folder}/reply && . ${folder}/reply; done`;
      write(name, `#!/bin/sh\necho "${name} $*" >> ${folder}/calls\n${next}\nexit 0\n`);
      chmodSync(toPath(name), 0o755);
    }
    const env = {
      PATH: `${folder}:/usr/bin:/bin`,
      STACK: steps[1]?.env?.STACK,
      GITHUB_REPOSITORY: 'shop/petstore',
      GITHUB_SHA: sha,
    };
    write('step', steps[1]?.run ?? '');
    // As GitHub runs a step.
    const outcome = spawnSync('bash', ['-e', toPath('step')], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    const calls = readFileSync(toPath('calls'), 'utf8').split('\n');
    expect([outcome.status, outcome.stdout]).toEqual([status, expect.stringContaining(said)]);
    const base = stack[0].startsWith(live) ? live : 'None';
    const compare = `gh api repos/shop/petstore/compare/${base}...${sha} --jq .status`;
    expect(calls.filter((call) => call.startsWith('gh'))).toEqual(replies.map(() => compare));
    expect(calls[0]).toContain('--stack-name petstore-production --output text');
  },
);

it('somebody must approve what reaches AWS, and what costs more', () => {
  const owners = readFileSync(join(projectRoot, '.github/CODEOWNERS'), 'utf8');
  const rows = [...owners.matchAll(/^(\/\S+)((?: @\S+)+)$/gm)].map(([, path]) => path);
  expect(rows.filter((path) => !existsSync(join(projectRoot, path ?? '')))).toEqual([]);
  expect(rows).toEqual(
    expect.arrayContaining([
      '/.github/',
      '/.npmrc',
      '/package.json',
      '/package-lock.json',
      '/infra/policies/',
      '/infra/stages/stages.ts',
      '/infra/costs/prices/',
      '/infra/costs/traffic.json',
      '/.github/CODEOWNERS',
    ]),
  );
});

it('a job that makes an assembly or holds a role takes nothing from a cache', () => {
  const names = ['.github/workflows/deploy.yml', '.github/workflows/export.yml'];
  const jobs = names.flatMap((name) => read(name).jobs);
  for (const { uses = '', with: settings } of jobs.flatMap(({ steps }) => steps)) {
    expect(uses).not.toMatch(/cache/);
    expect(settings ?? {}).not.toHaveProperty('cache');
    // By default, this action caches what a `packageManager` in package.json installs.
    if (toAction(uses) !== 'actions/setup-node') continue;
    expect(settings).toHaveProperty('package-manager-cache', false);
  }
  // No other workflow makes one or holds one.
  const others = files.filter((file) => !names.includes(file)).flatMap((file) => read(file).jobs);
  for (const { permissions, steps } of others) {
    expect(permissions).not.toHaveProperty('id-token');
    for (const { uses = '', with: settings } of steps) {
      if (toAction(uses) === 'actions/upload-artifact') expect(settings?.name).toBe('sbom');
    }
  }
});

it('gitleaks finds an API key, and no text that only looks like one', () => {
  const rule = readFileSync(join(projectRoot, '.gitleaks.toml'), 'utf8');
  const pattern = new RegExp(/^regex = '''(.+)'''$/m.exec(rule)?.[1] ?? '');
  const { apiKey } = mintApiKey();
  expect(pattern.exec(`const apiKey = '${apiKey}';`)?.[0]).toBe(apiKey);
  expect(rule).toContain(`keywords = ["${apiKey.slice(0, 4)}"]`);
  expect(`${apiKey.slice(0, -1)} ${apiKey}x psk_…`).not.toMatch(pattern);
  // Its own rules too, which a configuration replaces unless it extends them.
  expect(rule).toMatch(/^\[extend\]\nuseDefault = true\n\n/m);
  const invented = new RegExp(/^regexes = \['''(.+)'''\]$/m.exec(rule)?.[1] ?? '$.');
  const options = { cwd: projectRoot, encoding: 'utf8' } as const;
  // Its status is 1 if it finds none.
  const { stdout } = spawnSync('git', ['grep', '-hoE', 'psk_[0-9A-Za-z]{42}\\b'], options);
  expect(stdout.split('\n').filter((text) => text && !invented.test(text))).toEqual([]);
  expect(apiKey).not.toMatch(invented);
});

function read(file: string) {
  const text = readFileSync(join(projectRoot, file), 'utf8');
  const workflow = parse(text) as Workflow;
  const jobs = Object.values(workflow.jobs);
  return { text, workflow, jobs, steps: jobs.flatMap(({ steps }) => steps) };
}
