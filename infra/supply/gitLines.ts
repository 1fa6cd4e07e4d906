import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** A line of what git keeps. */
export interface GitLine {
  /** Such as `README.md:7`, and of a commit `README.md:7 at commit 0123456789ab`. */
  readonly place: string;
  readonly text: string;
}

/** The names of the tracked files, and their lines as they are on the disk. */
export function* readTrackedLines(folder: string): Generator<GitLine> {
  for (const file of git(folder, 'ls-files', '-z').split('\0')) {
    yield { place: 'the name of a file', text: file };
    const lines = file === '' ? [] : (readIfFile(join(folder, file))?.split('\n') ?? []);
    for (const [index, text] of lines.entries()) yield { place: `${file}:${index + 1}`, text };
  }
}

/**
 * What the commits behind `since` add, and say of themselves, also where a later one takes it away: who has
 * fetched the one has it. Without such a commit, as at a branch's first push, those of the whole history.
 * @throws {Error} when git fails
 */
export async function* readCommitLines(folder: string, since: string): AsyncGenerator<GitLine> {
  const base = findCommit(folder, since);
  const log = spawn(
    'git',
    [
      ...['log', '--patch', '--unified=0', '--text', '--no-color'],
      ...['--no-ext-diff', '--no-textconv'],
      // What a merge itself brings in is in none of its parents.
      ...['--diff-merges=first-parent', '--src-prefix=a/', '--dst-prefix=b/'],
      // A message is indented, so that no line of it looks like one of a patch.
      ...['--format=commit %H%n%w(0,1,1)%B', base === '' ? 'HEAD' : `${base}..HEAD`, '--'],
    ],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(log, 'close');
  yield* readPatches(splitLines(log.stdout));
  const [status] = await exited;
  if (status !== 0) throw new Error(`git log ended with status ${status}.`);
}

async function* readPatches(lines: AsyncIterable<string>): AsyncGenerator<GitLine> {
  let commit = '';
  let file = 'message';
  /** Of the next added line; 0 in the head of a file's patch, and in a message. */
  let number = 0;
  for await (const line of lines) {
    const [, hash] = /^commit ([0-9a-f]{12})/.exec(line) ?? [];
    const [, start] = /^@@ -\S+ \+(\d+)/.exec(line) ?? [];
    if (hash !== undefined) [commit, file, number] = [hash, 'message', 0];
    else if (line.startsWith('diff ')) [file, number] = ['the name of a file', 0];
    else if (number === 0 && line.startsWith('+++ ')) file = line.replace(/^\+\+\+ (b\/)?/, '');
    if (start !== undefined) number = Number(start);
    else if (number === 0) yield { place: `${file} at commit ${commit}`, text: line };
    else if (line.startsWith('+')) {
      yield { place: `${file}:${number} at commit ${commit}`, text: line };
      number += 1;
    }
  }
}

/** At line feeds alone: the same bytes are one line here and in git, whatever else is in them. */
async function* splitLines(output: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of output.setEncoding('latin1')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}

/** Its hash, and nothing where there is none of this name. */
function findCommit(folder: string, name: string): string {
  try {
    const commit = `${name}^{commit}`;
    return git(folder, 'rev-parse', '--verify', '--quiet', commit).trim();
  } catch {
    return '';
  }
}

/** Nothing of a file that was deleted, or of a folder that stands in a file's place, as a submodule does. */
function readIfFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    throw error;
  }
}

function git(folder: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
