import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The commit cannot be named. The message is one line. */
export class CommitError extends Error {
  override readonly name = 'CommitError';
}

/** A deployed commit, and by operation the digest that describes its function's version. */
export interface Release {
  readonly commit: string;
  readonly digests: Readonly<Record<string, string>>;
}

/** Used where neither git nor the variable names a commit. */
export const unknownCommit = 'unknown-no-git';

/**
 * The commit of this checkout, in 12 hexadecimal digits. If files have changed since, `-dirty-` and 8 digits follow.
 * The digits are the same for the same files, so each edited tree has its own name. A pipeline without git sets the
 * variable `PETSTORE_COMMIT` to 1 to 64 letters, digits, dots, dashes or underscores.
 * @throws {CommitError} when the variable holds anything else
 */
export function readCommit(environment: NodeJS.ProcessEnv = process.env): string {
  const { PETSTORE_COMMIT: given } = environment;
  if (given) {
    // All digits of a commit, as pipelines have them, name the same one as 12.
    if (/^[0-9a-f]{40}$/.test(given)) return given.slice(0, 12);
    if (/^[\w.-]{1,64}$/.test(given)) return given;
    throw new CommitError(
      `PETSTORE_COMMIT must be 1 to 64 letters, digits, dots, dashes or underscores; it is ${JSON.stringify(given)}.`,
    );
  }
  try {
    const commit = git(['rev-parse', '--short=12', 'HEAD']);
    return git(['status', '--porcelain']) === '' ? commit : `${commit}-dirty-${hashFiles()}`;
  } catch {
    return unknownCommit;
  }
}

/** Whether files had changed when the commit was read. */
export function isEdited(commit: string): boolean {
  return /-dirty-[0-9a-f]{8}$/.test(commit);
}

/** The tree that a commit of all files would have, untracked files included. The index stays as it is. */
function hashFiles(): string {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'petstore-commit-'));
  const index = { GIT_INDEX_FILE: join(folder.path, 'index') };
  git(['read-tree', 'HEAD'], index);
  git(['add', '--all', ':/'], index);
  return git(['write-tree'], index).slice(0, 8);
}

function git(args: string[], variables: NodeJS.ProcessEnv = {}): string {
  const cwd = import.meta.dirname;
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...variables },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
