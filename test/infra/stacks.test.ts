import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { expect, it, vi } from 'vitest';
import { buildApp } from '../../infra/buildApp.ts';
import { unknownCommit } from '../../infra/stages/commit.ts';
import { toStackName, toWatchStackName } from '../../infra/stages/resourceNames.ts';
import { stages } from '../../infra/stages/stages.ts';
import { findResources, templates, watchTemplates } from '../support/stackTemplates.ts';
import { changeProduction, fixtureNames, fixtures } from '../support/stageFixtures.ts';

it.each([
  ['production', 90],
  ['staging', 14],
] as const)('%s keeps every log for %i days', (stage, days) => {
  const groups = Object.entries(findResources(stage, 'AWS::Logs::LogGroup'));
  for (const [, group] of groups) {
    expect(group.Properties.RetentionInDays).toBe(days);
  }
  const [gateway] = Object.values(findResources(stage, 'AWS::ApiGateway::Stage'));
  const accessLog = groups.find(([id]) =>
    JSON.stringify(gateway?.Properties.AccessLogSetting.DestinationArn).includes(`"Ref":"${id}"`),
  );
  const functionLogs = Object.values(findResources(stage, 'AWS::Lambda::Function')).map(
    ({ Properties }) => Properties.LoggingConfig.LogGroup.Ref,
  );
  const written = [accessLog?.[0], ...functionLogs];
  expect(groups.map(([id]) => id).sort()).toEqual(written.sort());
});

it.each(fixtureNames)(
  '%s outputs its base address, ending in /v1, its commit and its tables',
  (stage) => {
    const outputs = templates[stage].findOutputs('*');
    expect(Object.keys(outputs).sort()).toEqual([
      'ApiKeysTableName',
      'BaseUrl',
      'Commit',
      'InventoryTableName',
      'OrdersTableName',
      'PetsTableName',
      'RequestsTableName',
    ]);
    const [separator, parts] = outputs.BaseUrl?.Value['Fn::Join'] ?? [];
    const [stageId, gateway] =
      Object.entries(findResources(stage, 'AWS::ApiGateway::Stage'))[0] ?? [];
    const address = parts
      .map((part: string | { Ref: string }) => {
        if (typeof part === 'string') return part;
        return part.Ref === stageId ? gateway?.Properties.StageName : `{${part.Ref}}`;
      })
      .join(separator);
    expect(address).toMatch(
      /^https:\/\/\{Api\w+\}\.execute-api\.\{AWS::Region\}\.\{AWS::URLSuffix\}\/v1$/,
    );
  },
);

it('lets neither of production’s stacks be destroyed, so that it is never without its alarms', () => {
  const app = buildApp({ context: { 'aws:cdk:bundling-stacks': [] } }, Object.values(fixtures));
  const isProtected = app.node.children
    .filter((child) => child instanceof Stack)
    .map(({ stackName, terminationProtection }) => [stackName, terminationProtection]);
  expect(isProtected.sort()).toEqual([
    ['petstore-production', true],
    ['petstore-production-watch', true],
    ['petstore-staging', false],
    ['petstore-staging-watch', false],
  ]);
});

it('tags every stack, and by that what it is made of, with service, stage and owner', () => {
  const copied = changeProduction({
    region: 'eu-west-1',
    backupRegion: 'eu-central-1',
    owner: 'shop team',
  });
  const deployments = [fixtures.staging, copied];
  const app = buildApp({ context: { 'aws:cdk:bundling-stacks': [] } }, deployments);
  const tags = app.node.children
    .filter((child) => child instanceof Stack)
    .map((stack) => [stack.stackName, stack.tags.tagValues()]);
  const staging = { service: 'petstore', stage: 'staging', owner: 'petstore team' };
  const production = { service: 'petstore', stage: 'production', owner: 'shop team' };
  expect(tags.sort()).toEqual([
    ['petstore-production', production],
    ['petstore-production-backup', production],
    ['petstore-production-watch', production],
    ['petstore-staging', staging],
    ['petstore-staging-watch', staging],
  ]);
});

it.each(fixtureNames)('%s has no custom resource', (stage) => {
  const types = [templates[stage], watchTemplates[stage]].flatMap((template) =>
    Object.values(template.toJSON().Resources as Record<string, { Type: string }>),
  );
  expect(types.length).toBeGreaterThan(80);
  expect(types.filter(({ Type }) => /^Custom::|CustomResource/.test(Type))).toEqual([]);
});

it('synthesizes every stack with no AWS settings and no git at all', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-synth-'));
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
    expect(readdirSync(folder)).toEqual(
      expect.arrayContaining(
        Object.values(stages).flatMap((stage) => [
          `${toStackName(stage)}.template.json`,
          `${toWatchStackName(stage)}.template.json`,
        ]),
      ),
    );
    for (const stage of Object.values(stages)) {
      const template = readFileSync(join(folder, `${toStackName(stage)}.template.json`), 'utf8');
      expect(JSON.parse(template).Outputs.Commit.Value).toBe(unknownCommit);
    }
  } finally {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  }
});
