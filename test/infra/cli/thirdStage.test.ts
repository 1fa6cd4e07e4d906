import { expect, it } from 'vitest';
import { stageNames } from '../../../infra/stages/stages.ts';
import { runOps } from '../ops/opsProcess.ts';

/** Gives a process one more stage, as if the settings had it. */
const addStage = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    const module = next(url, context);
    if (!url.endsWith('/infra/stages/stages.ts')) return module;
    const source = String(module.source).replace('export const stageNames', 'Object.assign(settings, { demo: settings.staging });$&');
    return { ...module, source };
  },
});`;
const variables = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(addStage)}`,
};

const modules = [
  'keys/runKeys',
  'data/runImport',
  'data/runExport',
  'rollback/runRollback',
  'restore/runRestore',
];
const asked = { 'keys/runKeys': ['list'], 'data/runImport': ['--pets=pets.jsonl'] };

/** Calls all commands in one process, for their help and then without naming a stage. */
const callAll = `
import { runCommand } from './infra/cli/usage.ts';
async function call(module, args) {
  const exported = await import('./infra/ops/' + module + '.ts');
  await runCommand(exported[module.split('/')[1]], args);
}
for (const module of ${JSON.stringify(modules)}) await call(module, ['--help']);
for (const [module, args] of Object.entries(${JSON.stringify(asked)})) await call(module, args);`;

it('a stage that is added to the settings is in each command’s help, and in what it asks for', async () => {
  const { stdout, stderr } = await runOps('--eval', [callAll], { variables });
  const all = `--stage ${[...stageNames, 'demo'].join('|')}`;
  expect(stdout.split(` ${all}`)).toHaveLength(modules.length + 1);
  const named = `${all}, or --endpoint URL`;
  expect(stderr.split(named)).toHaveLength(Object.keys(asked).length + 1);
});
