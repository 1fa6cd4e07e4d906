import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'summary-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The shell lines of the workflow's step, with which GitHub runs `bash -eo pipefail`. */
function readStep(): string {
  const workflow = readFileSync(join(root, '.github/workflows/check.yml'), 'utf8');
  const [, lines = ''] =
    /- name: What it does to the bill\n.*\n +run: \|\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
  return lines.replaceAll(/^ {10}/gm, '');
}

test.each([
  ['as it is', 'HEAD^1', /^## What it does to the bill\n\n(- |No request costs|The base has no)/],
  ['the commit itself', 'HEAD', /^## What it does to the bill\n\n(- |No request costs)/],
  ['one without units', 'HEAD:no/such', /^## What it does to the bill\n\nThe base has no units/],
])("a pull request's summary tells what it does to the bill, with the base %s", (_, base, text) => {
  const step = readStep();
  expect(step).toContain('HEAD^1');
  const summary = join(folder, `${base.replaceAll(/\W/g, '')}.md`);
  execFileSync('bash', ['-eo', 'pipefail', '-c', step.replaceAll('HEAD^1', base)], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'ignore'],
    env: { PATH: process.env.PATH, HOME: folder, GITHUB_STEP_SUMMARY: summary },
  });
  expect(readFileSync(summary, 'utf8')).toMatch(text);
});
