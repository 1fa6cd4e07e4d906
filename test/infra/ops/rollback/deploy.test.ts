import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
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

const staging = 'petstore-staging petstore-staging-watch';
const production = 'petstore-production petstore-production-watch';

it.each([
  [['petstore-staging'], staging],
  [['petstore-staging-watch', '--require-approval', 'never'], staging],
  [['--require-approval', 'never', 'petstore-staging-watch'], staging],
  [['petstore-production*'], production],
  [['petstore-staging', 'petstore-production'], `${staging} ${production}`],
  [['--all'], `${staging} ${production}`],
])(
  'npm run deploy %j builds the stages that it deploys, and ends as the CDK does',
  async (typed, built) => {
    expect(await deploy(...typed)).toEqual({
      status: 3,
      stdout: `cdk synth --quiet --exclusively ${built}\n`,
      stderr: '',
    });
  },
);

const stacks =
  'petstore-staging, petstore-staging-watch, petstore-production, petstore-production-watch';

it.each([
  [['petstore-stagin'], '"petstore-stagin" is no stack'],
  [['staging', '--require-approval', 'never'], '"staging" is no stack'],
  [['petstore-staging', 'petstore-production-backup'], '"petstore-production-backup" is no stack'],
  [['--require-approval', 'never'], 'no stack is named'],
  [[], 'no stack is named'],
])('npm run deploy %j builds nothing, and says which stacks there are', async (typed, wrong) => {
  const stderr = `Nothing was deployed: ${wrong}. The stacks are ${stacks}.\n`;
  expect(await deploy(...typed)).toEqual({ status: 2, stdout: '', stderr });
});
