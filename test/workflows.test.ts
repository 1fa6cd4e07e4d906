import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import packageJson from '../package.json' with { type: 'json' };
import { mintApiKey } from '../shared/keys/apiKey.ts';

const root = join(import.meta.dirname, '..');
const files = globSync('.github/workflows/*', { cwd: root });

interface Workflow {
  readonly on: string | Record<string, unknown>;
  readonly permissions: unknown;
  readonly jobs: Record<
    string,
    {
      readonly permissions: Record<string, string>;
      readonly 'timeout-minutes': number;
      readonly steps: readonly { uses?: string; run?: string; with?: Record<string, unknown> }[];
    }
  >;
}

it('there are workflows, which audit, look for secrets and list what there is', () => {
  expect(files.length).toBeGreaterThanOrEqual(4);
  const steps = files.flatMap((file) => read(file).steps);
  const runs = steps.map(({ run }) => run);
  expect(runs).toEqual(
    expect.arrayContaining([
      'npm run check',
      'npm audit --audit-level=moderate',
      'npm run sbom',
      'npm run test:dynamodb-local -- --required',
    ]),
  );
  const actions = steps.map(({ uses }) => uses?.replace(/@.*/, ''));
  expect(actions).toContain('gitleaks/gitleaks-action');
});

describe.each(files)('%s', (file) => {
  const { text, workflow, jobs, steps } = read(file);

  it('gives a job what it names, no credentials in its checkout, and an end some time', () => {
    expect(workflow.permissions).toEqual({});
    const isDeployment = file.endsWith('/deploy.yml');
    for (const { permissions, steps, 'timeout-minutes': minutes } of jobs) {
      const isGitleaks = steps.some(({ uses }) => uses?.startsWith('gitleaks/'));
      expect(permissions).toEqual({
        contents: 'read',
        ...(isDeployment && { 'id-token': 'write' }),
        ...(isGitleaks && { 'pull-requests': 'read' }),
      });
      expect(minutes).toBeLessThanOrEqual(60);
      const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
      expect(checkouts).toMatchObject([{ with: { 'persist-credentials': false } }]);
    }
  });

  it('pins each action by its hash, with the version behind it', () => {
    const uses = text.match(/\buses:.*/g) ?? [];
    expect(uses).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of uses) {
      expect(line).toMatch(/^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    }
  });

  it('has no secret where a pull request runs it, nobody’s text in a command, and scripts that there are', () => {
    const events = typeof workflow.on === 'string' ? [workflow.on] : Object.keys(workflow.on);
    expect(events).not.toContain('pull_request_target');
    if (events.includes('pull_request')) expect(text).not.toMatch(/\bsecrets[.[]/);
    for (const { run = '' } of steps) {
      expect(run).not.toContain('${{');
      const [, script] = /^npm run (\S+)/.exec(run) ?? [];
      if (script !== undefined) expect(packageJson.scripts).toHaveProperty([script]);
    }
  });
});

it('the same action has the same version everywhere', () => {
  const uses = new Set(
    files.flatMap((file) => read(file).steps.flatMap((step) => step.uses ?? [])),
  );
  const names = new Set([...uses].map((one) => one.replace(/@.*/, '')));
  expect(names.size).toBe(uses.size);
});

it('new versions are looked for every week, of packages and of actions, but no aws-cdk 3', () => {
  const { updates } = parse(readFileSync(join(root, '.github/dependabot.yml'), 'utf8'));
  const [packages, actions, ...others] = updates;
  expect(others).toEqual([]);
  const weekly = { directory: '/', schedule: { interval: 'weekly' } };
  expect(packages).toMatchObject({ 'package-ecosystem': 'npm', ...weekly });
  expect(actions).toMatchObject({ 'package-ecosystem': 'github-actions', ...weekly });
  expect(packages.ignore).toContainEqual({ 'dependency-name': 'aws-cdk', versions: ['>=3'] });
});

it('gitleaks finds an API key, and nothing that is only like one', () => {
  const rule = readFileSync(join(root, '.gitleaks.toml'), 'utf8');
  const pattern = new RegExp(/^regex = '''(.+)'''$/m.exec(rule)?.[1] ?? '');
  const { apiKey } = mintApiKey();
  expect(pattern.exec(`const apiKey = '${apiKey}';`)?.[0]).toBe(apiKey);
  expect(rule).toContain(`keywords = ["${apiKey.slice(0, 4)}"]`);
  expect(`${apiKey.slice(0, -1)} ${apiKey}x psk_…`).not.toMatch(pattern);
});

function read(file: string) {
  const text = readFileSync(join(root, file), 'utf8');
  const workflow = parse(text) as Workflow;
  const jobs = Object.values(workflow.jobs);
  return { text, workflow, jobs, steps: jobs.flatMap(({ steps }) => steps) };
}
