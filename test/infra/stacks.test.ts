import { readdirSync } from 'node:fs';
import { Stack } from 'aws-cdk-lib';
import { expect, it, vi } from 'vitest';
import { buildApp } from '../../infra/buildApp.ts';
import { unknownCommit } from '../../infra/stages/commit.ts';
import { toStackName, toWatchStackName } from '../../infra/stages/resourceNames.ts';
import { stages } from '../../infra/stages/stages.ts';
import { changeProduction, fixtures } from '../support/stageFixtures.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';

const { folder, read } = openTemporaryFolder();

it('tags every stack, and by that what it is made of, and lets none of production’s be destroyed', () => {
  const copied = changeProduction({
    region: 'eu-west-1',
    backupRegion: 'eu-central-1',
    owner: 'shop team',
  });
  const app = buildApp({ context: { 'aws:cdk:bundling-stacks': [] } }, [fixtures.staging, copied]);
  const found = app.node.children
    .filter((child) => child instanceof Stack)
    .map(({ stackName, tags, terminationProtection, environment, region }) => [
      ...[stackName, tags.tagValues(), terminationProtection],
      environment.includes('unknown-region') ? undefined : region,
    ]);
  const staging = { service: 'petstore', stage: 'staging', owner: 'petstore team' };
  const production = { service: 'petstore', stage: 'production', owner: 'shop team' };
  expect(found.sort()).toEqual([
    ['petstore-production', production, true, 'eu-west-1'],
    ['petstore-production-backup', production, true, 'eu-central-1'],
    ['petstore-production-watch', production, true, 'eu-west-1'],
    ['petstore-staging', staging, false, undefined],
    ['petstore-staging-watch', staging, false, undefined],
  ]);
});

it('synthesizes every stack with no AWS settings and no git at all', async () => {
  for (const name of Object.keys(process.env)) {
    if (/^(AWS|CDK_DEFAULT|PETSTORE)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv('HOME', folder);
  vi.stubEnv('PATH', folder);
  vi.stubEnv('CDK_OUTDIR', folder);
  vi.stubEnv('CDK_CONTEXT_JSON', '{"aws:cdk:bundling-stacks":[]}');
  try {
    // What `cdk.json` calls.
    await import('../../infra/app.ts');
    expect(process.exitCode).toBeUndefined();
    const names = Object.values(stages).map(toStackName);
    const watching = Object.values(stages).map(toWatchStackName);
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining([...names, ...watching].map((name) => `${name}.template.json`)),
    );
    for (const name of names) {
      expect(JSON.parse(read(`${name}.template.json`)).Outputs.Commit.Value).toBe(unknownCommit);
    }
  } finally {
    vi.unstubAllEnvs();
  }
});
