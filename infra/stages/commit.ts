import { execFileSync } from 'node:child_process';

/** The commit cannot be told; the message is one line. */
export class CommitError extends Error {
  override readonly name = 'CommitError';
}

/** What stands in a commit's place where neither git nor the variable tells it. */
export const unknownCommit = 'unknown-no-git';

/**
 * The commit that this checkout is of, in 12 hexadecimal digits, with `-dirty` behind it when files have
 * changed since. A pipeline that has no git names it by the variable `PETSTORE_COMMIT`, at most 64 letters,
 * digits, dots, dashes or underscores.
 * @throws {CommitError} when the variable holds anything else
 */
export function readCommit(environment: NodeJS.ProcessEnv = process.env): string {
  const { PETSTORE_COMMIT: given } = environment;
  if (given) {
    if (/^[\w.-]{1,64}$/.test(given)) return given;
    throw new CommitError(
      `PETSTORE_COMMIT must be 1 to 64 letters, digits, dots, dashes or underscores; it is ${JSON.stringify(given)}.`,
    );
  }
  try {
    const commit = git('rev-parse', '--short=12', 'HEAD');
    return git('status', '--porcelain') === '' ? commit : `${commit}-dirty`;
  } catch {
    return unknownCommit;
  }
}

function git(...args: string[]): string {
  const cwd = import.meta.dirname;
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
