import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { chooseStages } from '../../../../infra/ops/rollback/checkAliases.ts';
import { openTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { runOps } from '../opsProcess.ts';

const { folder, write, toPath } = openTemporaryFolder();

/** Types `npm run deploy`, with a CDK that shows its arguments and fails. */
async function deploy(...typed: string[]) {
  write('cdk', '#!/bin/sh\necho "cdk $*"\nexit 3\n');
  chmodSync(toPath('cdk'), 0o755);
  const variables = { PATH: `${folder}:${dirname(process.execPath)}:/usr/bin:/bin` };
  return await runOps(['infra/ops/rollback/deploy.ts', ...typed], { variables });
}

const stacks =
  'petstore-staging, petstore-staging-watch, petstore-production, petstore-production-watch';

it('npm run deploy builds the stages that it deploys, and ends as the CDK does', async () => {
  expect(await deploy('petstore-staging-watch', '--require-approval', 'never')).toEqual({
    status: 3,
    stdout: 'cdk synth --quiet --exclusively petstore-staging petstore-staging-watch\n',
    stderr: '',
  });
});

it.each([
  [['petstore-staging'], ['staging']],
  [['--require-approval', 'never', 'petstore-staging-watch'], ['staging']],
  [['petstore-production*'], ['production']],
  [
    ['petstore-staging', 'petstore-production'],
    ['staging', 'production'],
  ],
  [['--all'], ['staging', 'production']],
])('npm run deploy %j builds %j', (typed, built) => {
  expect(chooseStages(typed).map(({ name }) => name)).toEqual(built);
});

it.each([
  [['petstore-stagin'], '"petstore-stagin" is no stack'],
  [['staging', '--require-approval', 'never'], '"staging" is no stack'],
  [['petstore-staging', 'petstore-production-backup'], '"petstore-production-backup" is no stack'],
  [['--require-approval', 'never'], 'no stack is named'],
])('npm run deploy %j is wrong: %s', (typed, wrong) => {
  expect(() => chooseStages(typed)).toThrow(
    `Nothing was deployed: ${wrong}. The stacks are ${stacks}.`,
  );
});
