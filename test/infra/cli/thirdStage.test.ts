import { describe, expect, it } from 'vitest';
import { runOps } from '../ops/opsProcess.ts';

/** Gives a process one more stage's name, as if the settings had it. */
const addStage = `
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    const module = next(url, context);
    if (!url.endsWith('/infra/stages/stages.ts')) return module;
    const source = String(module.source).replace('Object.keys(settings)', '[...Object.keys(settings), "demo"]');
    return { ...module, source };
  },
});`;
const variables = {
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(addStage)}`,
};

describe('a stage that is added to the settings', () => {
  it.each(['keys/keys', 'data/import', 'data/export', 'rollback/rollback', 'restore/restore'])(
    'is in the help of %s',
    async (command) => {
      const { stdout } = await runOps(`infra/ops/${command}.ts`, ['--help'], { variables });
      expect(stdout).toContain('--stage staging|production|demo');
    },
  );

  it.each([
    ['keys/keys', 'list'],
    ['data/import', '--pets=pets.jsonl'],
  ])('is one that %s tells of where none is named', async (command, word) => {
    const { stderr } = await runOps(`infra/ops/${command}.ts`, [word], { variables });
    expect(stderr).toContain('--stage staging|production|demo, or --endpoint URL');
  });
});
