import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it, onTestFinished, vi } from 'vitest';
import { readCommit, unknownCommit } from '../../../infra/stages/commit.ts';
import { openTemporaryFolder } from '../../support/temporaryFolder.ts';

const { folder, read, toPath, write } = openTemporaryFolder();

// The module asks git about its own folder.
const copy = toPath('commit.ts');
cpSync(new URL('../../../infra/stages/commit.ts', import.meta.url).pathname, copy);

const { readCommit: readOwn } = await import(/* @vite-ignore */ copy);

function git(...args: string[]): string {
  const who = ['-c', 'user.name=test', '-c', 'user.email=test@petstore.example'];
  return execFileSync('git', ['-C', folder, ...who, ...args], { encoding: 'utf8' });
}

it('is unknown without git, else the commit, with a name for each later change', () => {
  vi.stubEnv('GIT_CEILING_DIRECTORIES', tmpdir());
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(readOwn({})).toBe(unknownCommit);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'First');
  const commit = git('rev-parse', 'HEAD').slice(0, 12);
  expect(readOwn({})).toBe(commit);
  const edited = new RegExp(`^${commit}-dirty-[0-9a-f]{8}$`);
  const names = ['', 'a', 'b'].map((content) => {
    write('other.ts', content);
    const name = readOwn({});
    expect(name).toMatch(edited);
    return name;
  });
  git('add', '.');
  expect(readOwn({})).toBe(names[2]);
  write('other.ts', 'a');
  expect(readOwn({})).toBe(names[1]);
  rmSync(toPath('other.ts'));
  write('commit.ts', `${read('commit.ts')}\n`);
  names.push(readOwn({}));
  expect(new Set(names).size).toBe(4);
  expect(names[3]).toMatch(edited);
});

it('is the commit from the pipeline, if there is one', () => {
  expect(readCommit({ PETSTORE_COMMIT: 'v1.2.3_4-rc' })).toBe('v1.2.3_4-rc');
  const digits = '0123456789abcdef'.repeat(3).slice(0, 40);
  expect(readCommit({ PETSTORE_COMMIT: digits })).toBe('0123456789ab');
  for (const wrong of ['a b', 'x'.repeat(65), 'a/b', '$(id)']) {
    expect(() => readCommit({ PETSTORE_COMMIT: wrong })).toThrow(/PETSTORE_COMMIT must be 1 to 64/);
  }
});
