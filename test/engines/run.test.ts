import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { projectRoot } from '../../infra/stages/projectRoot.ts';

it.each([
  [[], 0],
  [['--required'], 1],
])('npm run test:dynamodb-local -- %j prints one line without Java', (options, status) => {
  const { NODE_COMPILE_CACHE } = process.env;
  const ended = spawnSync(process.execPath, ['test/engines/run.ts', ...options], {
    cwd: projectRoot,
    encoding: 'utf8',
    env: { PATH: '/nonexistent', NODE_COMPILE_CACHE },
  });
  const stdout = 'Skipped: DynamoDB Local needs Java 17 or later, and none was found.\n';
  expect(ended).toMatchObject({ status, stdout, stderr: '' });
});
