import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it.each([
  [[], 0],
  [['--required'], 1],
])('npm run test:dynamodb-local -- %j prints one line without Java', (options, status) => {
  const { NODE_COMPILE_CACHE } = process.env;
  const ended = spawnSync(process.execPath, ['test/engines/run.ts', ...options], {
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
    env: { PATH: '/nonexistent', NODE_COMPILE_CACHE },
  });
  const stdout = 'Skipped: DynamoDB Local needs Java 17 or later, and none was found.\n';
  expect(ended).toMatchObject({ status, stdout, stderr: '' });
});
