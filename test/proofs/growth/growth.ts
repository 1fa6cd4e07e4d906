import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { makeScratchFolder, runTestCommand } from '../../support/testCommand.ts';

const text = {
  about:
    'Proves that the project grows as its documents say. Two operations are added to a copy of the tracked files by the steps of CONTRIBUTING.md. Another copy gets the settings of a team, as OPERATIONS.md says, and a third stage. In both, npm run check must pass. Exits with status 1 if it does not.',
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
  "a team's settings": {
    change: setTeam,
    commands: ['npx vitest run test/infra/costs --update'],
  },
};

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
  const [, steps = ''] = readFileSync(join(projectRoot, 'CONTRIBUTING.md'), 'utf8').split(
    '## Adding an operation',
  );
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
  const begun = performance.now();
  const { status, output } = run(folder, command);
  const seconds = Math.round((performance.now() - begun) / 1_000);
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
 * ```` ```ts FILE before TEXT ```` to put the block above each line that begins with the text, or `for TEXT` to replace it.
 */
function applyBlocks(folder: string, markdown: string): void {
  const text = readFileSync(new URL(markdown, import.meta.url), 'utf8');
  const blocks = text.matchAll(/^```\w+ (\S+)(?: (before|for) ([^\n]+))?\n(.*?)^```$/gms);
  for (const [, file = '', how, anchor = '', block = ''] of blocks) {
    const path = join(folder, file);
    if (how === undefined) writeFileSync(path, block);
    else addLines(path, how, anchor, block);
  }
}

function addLines(path: string, how: string, anchor: string, block: string): void {
  change(path, (text) => {
    const lines = text.split(/^/m);
    if (!lines.some((line) => line.startsWith(anchor))) {
      throw new Error(`No line of ${path} begins with "${anchor}".`);
    }
    const kept = (line: string) => (how === 'for' ? '' : line);
    return lines.map((line) => (line.startsWith(anchor) ? `${block}${kept(line)}` : line)).join('');
  });
}
