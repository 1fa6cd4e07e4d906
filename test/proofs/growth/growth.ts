import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCommand } from '../../../infra/cli/usage.ts';
import { projectRoot } from '../../../infra/stages/projectRoot.ts';
import { addLines, applyBlocks, type Copy, openCopy } from './copy.ts';

const help = `Usage: npm run growth -- [--keep]

Proves that the project grows as its documents say. Two operations are added to a copy of the tracked files by the
steps of CONTRIBUTING.md. Another copy gets the settings of a team, as OPERATIONS.md says, and a third stage.
In both, npm run check must pass. Exits with status 1 if it does not.

Options:
  --keep   keep the copies, and print where they are
  --help   show this
`;

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

await runCommand(async (args) => {
  const options = { keep: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args, options });
  if (values.help) return void process.stdout.write(help);
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
  for (const [name, { change, commands }] of Object.entries(growths)) {
    const copy = openCopy(values.keep === true);
    process.stdout.write(`${name}${values.keep ? ` in ${copy.folder}` : ''}\n`);
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

/** @throws {Error} if it fails, after the end of its output */
async function runStep(copy: Copy, command: string): Promise<void> {
  const begun = performance.now();
  const { isOk, output } = await copy.run(command);
  const seconds = Math.round((performance.now() - begun) / 1_000);
  process.stdout.write(`  ${isOk ? 'ok    ' : 'FAILED'} ${command} (${seconds} s)\n`);
  if (isOk) return;
  process.stderr.write(output.slice(-20_000));
  throw new Error(`${command} failed.`);
}
