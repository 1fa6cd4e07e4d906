import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';

/** A copy of the project's tracked files, with uncommitted changes, in a repository of its own. */
export type Copy = ReturnType<typeof openCopy>;

/** @param isKept whether the folder outlives this process */
export function openCopy(isKept: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-growth-'));
  if (!isKept)
    process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const git = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd }).toString();
  for (const file of git(projectRoot, 'ls-files', '-z').split('\0').filter(Boolean)) {
    const from = join(projectRoot, file);
    if (existsSync(from)) cpSync(from, join(folder, file));
  }
  git(folder, 'init', '--quiet');
  git(folder, 'add', '.');
  const author = ['-c', 'user.name=growth', '-c', 'user.email=growth@petstore.example'];
  git(folder, ...author, 'commit', '--quiet', '--message', 'Copy');
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  const toPath = (file: string) => join(folder, file);
  return {
    folder,
    has: (file: string) => existsSync(toPath(file)),
    change(file: string, toText: (text: string) => string) {
      writeFileSync(toPath(file), toText(readFileSync(toPath(file), 'utf8')));
    },
    write: (file: string, text: string) => writeFileSync(toPath(file), text),
    /** Runs a command there to its end. */
    async run(line: string) {
      const [command = '', ...args] = line.split(' ');
      const child = spawn(command, args, { cwd: folder, detached: true });
      // With all its children, before the folder is deleted.
      const end = () => void process.kill(-Number(child.pid), 'SIGKILL');
      process.prependOnceListener('exit', end);
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text) => {
          output += text;
        });
      }
      const [status] = await once(child, 'close');
      process.off('exit', end);
      return { isOk: status === 0, output };
    },
  };
}

/**
 * Applies the blocks of a Markdown file. The first line of each names its file: ```` ```ts FILE ````, or
 * ```` ```ts FILE before TEXT ```` to put the block above each line that begins with the text, or `for TEXT` to replace it.
 */
export function applyBlocks(copy: Copy, markdown: string): void {
  const blocks = markdown.matchAll(/^```\w+ (\S+)(?: (before|for) ([^\n]+))?\n(.*?)^```$/gms);
  for (const [, file = '', how, anchor = '', block = ''] of blocks) {
    if (how === undefined) copy.write(file, block);
    else addLines(copy, file, anchor, block, how === 'for');
  }
}

/** @throws {Error} if no line begins with the text */
export function addLines(
  copy: Copy,
  file: string,
  anchor: string,
  block: string,
  isReplaced = false,
): void {
  copy.change(file, (text) => {
    const lines = text.split('\n');
    if (!lines.some((line) => line.startsWith(anchor))) {
      throw new Error(`No line of ${file} begins with "${anchor}".`);
    }
    const toLines = (line: string) =>
      line.startsWith(anchor) ? [block.replace(/\n$/, ''), ...(isReplaced ? [] : [line])] : [line];
    return lines.flatMap(toLines).join('\n');
  });
}
