import { deepEqual } from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { makeScratchFolder, runTestCommand } from '../../support/testCommand.ts';

const text = {
  about:
    'Proves that the project grows as its documents say. Two operations are added to a copy of the tracked files by the steps of CONTRIBUTING.md, and another copy loses one by its steps. A third gets the settings of a team, as OPERATIONS.md says, and a third stage. In each, npm run check must pass. Exits with status 1 if it does not.',
  options: { keep: { about: 'keep the copies, and print where they are' } },
} as const;

/** The copies by name: what to change in the folder, and the commands that the documents then name. */
const growths = {
  'two operations': {
    change: addOperations,
    commands: [
      'npm run format',
      'npx vitest run test/infra/templates.test.ts --update',
      'npm run openapi',
      'npm run units',
      'npx vitest run test/infra/costs --update',
    ],
  },
  'a retired operation': {
    change: retireOperation,
    commands: [
      'npm run format',
      'npx vitest run test/infra/templates.test.ts test/infra/deploy/watch --update',
      'npm run openapi',
      'npm run units',
      'npx vitest run test/infra/costs --update',
    ],
  },
  "a team's settings": {
    change: setTeam,
    commands: ['npx vitest run test/infra/costs --update'],
  },
};

const contributing = readFileSync(join(projectRoot, 'CONTRIBUTING.md'), 'utf8');

await runTestCommand('growth', text, async ({ keep = false }) => {
  for (const [name, { change, commands }] of Object.entries(growths)) {
    const folder = copyProject(keep);
    process.stdout.write(`${name}${keep ? ` in ${folder}` : ''}\n`);
    change(folder);
    for (const command of commands) runStep(folder, command);
    acceptMonths(folder);
    runStep(folder, 'npm run check');
  }
});

/** Copies the project's tracked files, with uncommitted changes, into a clone. */
function copyProject(isKept: boolean): string {
  const folder = makeScratchFolder('growth', isKept);
  execFileSync('git', ['clone', '--quiet', '--shared', projectRoot, folder]);
  const uncommitted = execFileSync('git', ['diff', '--binary', 'HEAD'], { cwd: projectRoot });
  execFileSync('git', ['apply', '--allow-empty'], { cwd: folder, input: uncommitted });
  symlinkSync(join(projectRoot, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** CONTRIBUTING.md's own blocks, each for the file named last before it, and those of `operations.md`. */
function addOperations(folder: string): void {
  const [, steps = ''] = /^## Adding an operation$(.*?)^## /ms.exec(contributing) ?? [];
  for (const part of steps.split(/^ +```$/m)) {
    const [text = '', block] = part.split(/^ +```ts$/m);
    const file = [...text.matchAll(/`(\w+\/[\w/]+\.ts)`/g)].at(-1)?.[1];
    if (block === undefined || file === undefined) continue;
    const lines = block.replaceAll(/^ {3}/gm, '').trimStart();
    const path = join(folder, file);
    if (existsSync(path)) addLines(path, 'before', '    async listOrders(', lines);
    else writeFileSync(path, lines);
  }
  applyBlocks(folder, 'operations.md');
}

/** Fails if CONTRIBUTING.md does not list exactly the files that this edits. */
function retireOperation(folder: string): void {
  applyBlocks(folder, 'retirement.md');
  const [, steps = ''] = /^## Retiring an operation$(.*?)^Run /ms.exec(contributing) ?? [];
  const listed = [...steps.matchAll(/`([\w./]+\.(?:ts|md|json))`/g)].map(([, file]) => file);
  const git = ['diff', '--name-only', 'HEAD'];
  const edited = execFileSync('git', git, { cwd: folder, encoding: 'utf8' }).trim().split('\n');
  const own = 'shared/contract/openapi.released.json';
  deepEqual(
    edited.filter((file) => file !== own),
    listed.map((file) => file?.replace('OPERATION', 'getPet')).sort(),
  );
}

function setTeam(folder: string): void {
  applyBlocks(folder, 'settings.md');
  change(join(folder, 'infra/stages/stages.ts'), (text) => {
    const [staging = ''] = /^ {2}staging: \{.*?^ {2}\},\n/ms.exec(text) ?? [];
    return text.replace(staging, `${staging}${staging.replace('staging', 'qa')}`);
  });
}

/** Writes each month that `costs check` names, as it says. */
function acceptMonths(folder: string): void {
  const { output } = run(folder, 'npx petstore costs check');
  for (const [, stage = '', dollars, file = ''] of output.matchAll(
    /set "(\w+)": ([\d.]+) in (\S+\.json)/g,
  )) {
    process.stdout.write(`  ${file}: "${stage}": ${dollars}\n`);
    change(join(folder, file), (text) => {
      const accepted = { ...JSON.parse(text), [stage]: Number(dollars) };
      return `${JSON.stringify(accepted, null, 2)}\n`;
    });
  }
}

function runStep(folder: string, command: string): void {
  const started = performance.now();
  const { status, output } = run(folder, command);
  const seconds = Math.round((performance.now() - started) / 1_000);
  process.stdout.write(`  ${status === 0 ? 'ok    ' : 'FAILED'} ${command} (${seconds} s)\n`);
  if (status === 0) return;
  process.stderr.write(output.slice(-20_000));
  throw new Error(`${command} failed.`);
}

function run(folder: string, line: string) {
  const [command = '', ...args] = line.split(' ');
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  return { status, output: `${stdout}${stderr}` };
}

function change(path: string, toText: (text: string) => string): void {
  writeFileSync(path, toText(readFileSync(path, 'utf8')));
}

/**
 * Applies the blocks of a Markdown file. The first line of each names its file: ```` ```ts FILE ````, or
 * ```` ```ts FILE before TEXT ```` to put the block above each line that begins with the text, or `for TEXT` to replace
 * it. An empty block deletes the file or the text.
 */
function applyBlocks(folder: string, markdown: string): void {
  const text = readFileSync(new URL(markdown, import.meta.url), 'utf8');
  const blocks = text.matchAll(/^```\w+ (\S+)(?: (before|for) ([^\n]+))?\n(.*?)^```$/gms);
  for (const [, file = '', how, anchor = '', block = ''] of blocks) {
    const path = join(folder, file);
    if (how === undefined && block === '') rmSync(path);
    else if (how === undefined) writeFileSync(path, block);
    else addLines(path, how, anchor, block);
  }
}

function addLines(path: string, how: string, anchor: string, block: string): void {
  change(path, (text) => {
    const lines = text.split(/^/m);
    if (!lines.some((line) => line.startsWith(anchor))) {
      throw new Error(`No line of ${path} begins with "${anchor}".`);
    }
    let end = 0;
    return lines
      .map((line, index) => {
        if (index < end) return '';
        if (!line.startsWith(anchor)) return line;
        if (how === 'before') return `${block}${line}`;
        end = block === '' ? findEnd(lines, index) : index + 1;
        return block;
      })
      .join('');
  });
}

/** The index after what begins at a line: a section of Markdown, or a statement up to the bracket that closes it. */
function findEnd(lines: readonly string[], start: number): number {
  const [first = '', ...others] = lines.slice(start);
  const indent = /^ */.exec(first)?.[0] ?? '';
  const isEnd = (line: string) =>
    first.startsWith('#') ? line.startsWith('## ') : new RegExp(`^${indent}[)}\\]]`).test(line);
  if (!first.startsWith('#') && !/[({[]$/.test(first.trimEnd())) return start + 1;
  const length = others.findIndex(isEnd);
  return start + 1 + length + (first.startsWith('#') ? 0 : 1);
}
