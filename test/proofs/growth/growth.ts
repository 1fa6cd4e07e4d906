import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { makeScratchFolder, runTestCommand } from '../../support/testCommand.ts';

const text = {
  about:
    'Proves that the project grows as its documents say. Two operations are added to a copy of the tracked files by the steps of CONTRIBUTING.md. Another copy gets the settings of a team, as OPERATIONS.md says, and a third stage. In both, npm run check must pass. Exits with status 1 if it does not.',
  options: { keep: { about: 'keep the copies, and print where they are' } },
} as const;

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');

/** The copies by name: what to change, and the commands that the documents then name. */
const growths = {
  'two operations': {
    change: addOperations,
    commands: [
      'npm run format',
      'npx vitest run test/infra/templates.test.ts --update',
      'npm run openapi',
      'npm run units',
      'npm run figures',
    ],
  },
  "a team's settings": { change: setTeam, commands: ['npm run format', 'npm run figures'] },
};

await runTestCommand('growth', text, async ({ keep = false }) => {
  for (const [name, { change, commands }] of Object.entries(growths)) {
    const copy = openCopy(keep);
    process.stdout.write(`${name}${keep ? ` in ${copy.folder}` : ''}\n`);
    change(copy);
    for (const command of commands) await runStep(copy, command);
    await acceptMonths(copy);
    await runStep(copy, 'npm run check');
  }
});

/** CONTRIBUTING.md's own blocks, each for the file named last before it, and those of `operations.md`. */
function addOperations(copy: Copy): void {
  const [, steps = ''] = read('CONTRIBUTING.md').split('## Adding an operation');
  for (const part of steps.split(/^ +```$/m)) {
    const [text = '', block] = part.split(/^ +```ts$/m);
    const file = [...text.matchAll(/`(\w+\/[\w/]+\.ts)`/g)].at(-1)?.[1];
    if (block === undefined || file === undefined) continue;
    const lines = block.replaceAll(/^ {3}/gm, '').trimStart();
    if (copy.has(file)) addLines(copy, file, '    async listOrders(', lines);
    else copy.write(file, lines);
  }
  applyBlocks(copy, read('test/proofs/growth/operations.md'));
}

function setTeam(copy: Copy): void {
  applyBlocks(copy, read('test/proofs/growth/settings.md'));
  copy.change('infra/stages/stages.ts', (text) => {
    const [staging = ''] = /^ {2}staging: \{.*?^ {2}\},\n/ms.exec(text) ?? [];
    return text.replace(staging, `${staging}${staging.replace('staging', 'qa')}`);
  });
}

/** Writes each month that `costs check` names, as it says. */
async function acceptMonths(copy: Copy): Promise<void> {
  const { output } = await copy.run('npx petstore costs check');
  for (const [, stage = '', dollars, file = ''] of output.matchAll(
    /set "(\w+)": ([\d.]+) in (\S+\.json)/g,
  )) {
    process.stdout.write(`  ${file}: "${stage}": ${dollars}\n`);
    copy.change(file, (text) => {
      const accepted = { ...JSON.parse(text), [stage]: Number(dollars) };
      return `${JSON.stringify(accepted, null, 2)}\n`;
    });
  }
}

async function runStep(copy: Copy, command: string): Promise<void> {
  const begun = performance.now();
  const { isOk, output } = await copy.run(command);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  process.stdout.write(`  ${isOk ? 'ok    ' : 'FAILED'} ${command} (${seconds} s)\n`);
  if (isOk) return;
  process.stderr.write(output.slice(-20_000));
  throw new Error(`${command} failed.`);
}

/** A copy of the project's tracked files, with uncommitted changes, in a repository of its own. */
type Copy = ReturnType<typeof openCopy>;

function openCopy(isKept: boolean) {
  const folder = makeScratchFolder('growth', isKept);
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
function applyBlocks(copy: Copy, markdown: string): void {
  const blocks = markdown.matchAll(/^```\w+ (\S+)(?: (before|for) ([^\n]+))?\n(.*?)^```$/gms);
  for (const [, file = '', how, anchor = '', block = ''] of blocks) {
    if (how === undefined) copy.write(file, block);
    else addLines(copy, file, anchor, block, how === 'for');
  }
}

function addLines(copy: Copy, file: string, anchor: string, block: string, isReplaced = false) {
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
