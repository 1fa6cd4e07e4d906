import { readdirSync } from 'node:fs';
import { App, Stack, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';
import { afterEach, expect, it, vi } from 'vitest';
import {
  buildApp,
  refuseFindings,
  synthesize,
  templatesOnly,
} from '../../infra/deploy/buildApp.ts';
import { checkStageSettings } from '../../infra/stages/checkStageSettings.ts';
import { unknownCommit } from '../../infra/stages/commit.ts';
import { toNames } from '../../infra/stages/resourceNames.ts';
import { stageSettings } from '../../infra/stages/stageSettings.ts';
import { type Stage, stages } from '../../infra/stages/stages.ts';
import {
  changedSettings,
  changedStage,
  changeProduction,
  fixtures,
} from '../support/stageFixtures.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';

const { folder, read } = openTemporaryFolder();
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});
const { context } = templatesOnly;

it('tags every stack and so its resources, and protects production’s stacks from deletion', () => {
  const copied = changeProduction({ ...changedStage.settings, owner: 'shop team' });
  const app = buildApp(templatesOnly, [fixtures.staging, copied]);
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

it('synthesizes every stack without AWS settings and without git', async () => {
  for (const name of Object.keys(process.env)) {
    if (/^(AWS|CDK_DEFAULT|PETSTORE)_/.test(name)) vi.stubEnv(name, undefined);
  }
  vi.stubEnv('HOME', folder);
  vi.stubEnv('PATH', folder);
  vi.stubEnv('CDK_OUTDIR', folder);
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify(context));
  // `cdk.json` runs this file.
  await import('../../infra/app.ts');
  expect(process.exitCode).toBeUndefined();
  for (const { stack, watchStack } of Object.values(stages).map(toNames)) {
    expect(read(`${stack}.template.json`)).toContain(`"Value": "${unknownCommit}"`);
    expect(readdirSync(folder)).toContain(`${watchStack}.template.json`);
  }
});

it('cdk synth --exclusively of one stage’s stack builds that stage alone', async () => {
  const names = ['petstore-staging-watch'];
  vi.stubEnv('CDK_OUTDIR', folder);
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify({ ...context, 'aws:cdk:bundling-stacks': names }));
  // Built, it would stop the synthesis.
  const invalid = changeProduction({ contact: 'call us' });
  await synthesize([fixtures.staging, invalid]);
  expect(process.exitCode).toBeUndefined();
  const { stack, watchStack } = toNames(fixtures.staging);
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining([`${stack}.template.json`, `${watchStack}.template.json`]),
  );
});

const commit = '0123456789ab';
const edited = `${commit}-dirty-89abcdef`;
const toExamples = (name: string, fields: string) =>
  `infra/stages/stages.ts: replace the example values of ${name}: ${fields}.`;
const line = toExamples('production', 'documentationAddress, contact, allowedOrigins, owner');
const stagingLine = toExamples('staging', 'documentationAddress, contact, owner');
const ownSettings = {
  documentationAddress: 'https://docs.shop.example',
  contact: 'api@shop.example',
  allowedOrigins: ['https://shop.example'],
  owner: 'shop team',
} as const;
const owned = changeProduction(ownSettings);
// Its budget would warn nobody.
const budgeted = changeProduction({ ...ownSettings, budget: changedSettings.budget });
const budgetLine = toExamples('production', 'budget');
const account = '123456789012';

it.each([
  ['stops at examples with an account', account, fixtures.production, commit, ['error', line]],
  ['warns of examples without one', undefined, fixtures.production, commit, ['warning', line]],
  ['stops at examples of staging too', account, fixtures.staging, edited, ['error', stagingLine]],
  ['stops at an example address of finance', account, budgeted, commit, ['error', budgetLine]],
  ['accepts own addresses from a commit', account, owned, commit, []],
  ['accepts uncommitted files without an account', undefined, owned, edited, []],
  ['warns of uncommitted files', account, owned, edited, ['warning', `files (${edited}).`]],
] as const)('a deployment %s', (_, CDK_DEFAULT_ACCOUNT, stage, from, [type, text]) => {
  vi.stubEnv('CDK_DEFAULT_ACCOUNT', CDK_DEFAULT_ACCOUNT);
  const app = buildApp(templatesOnly, [stage], from);
  const { metadata } = app.node.findChild(toNames(stage).stack).node;
  const found = metadata.filter((one) => /:(error|warning)$/.test(one.type));
  expect(found.map((one) => [one.type, one.data])).toEqual(
    type ? [[`aws:cdk:${type}`, expect.stringContaining(text)]] : [],
  );
});

it('stops the synthesis at an unexplained finding', { timeout: 60_000 }, async () => {
  vi.stubEnv('CDK_OUTDIR', folder);
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify(context));
  const { synth } = App.prototype;
  vi.spyOn(App.prototype, 'synth').mockImplementationOnce(function addTopic(this: App) {
    new Topic(this.node.findChild('petstore-staging-watch') as never, 'Careless');
    return synth.call(this);
  });
  await expect(synthesize([fixtures.staging])).rejects.toThrow(
    /petstore-staging-watch\/Careless[\s\S]*AwsSolutions-SNS3/,
  );
});

it('accepts every setting together; the firewall leaves one finding less to explain', async () => {
  const settings = { ...changedStage.settings, account };
  expect(Object.keys(settings).sort()).toEqual(Object.keys(stageSettings.shape).sort());
  const app = await build([{ ...changedStage, settings }]);
  expect(toAcknowledged(app)).not.toContain('AwsSolutions-APIG3');
  expect(() => app.synth()).not.toThrow();
});

it('explains each accepted finding at its resource, and none for a whole stack', async () => {
  const app = await build(Object.values(fixtures));
  expect([...new Set(toAcknowledged(app))].sort()).toEqual([
    'AwsSolutions-APIG2',
    'AwsSolutions-APIG3',
    'AwsSolutions-APIG4',
    'AwsSolutions-APIG6',
    'AwsSolutions-COG4',
    'AwsSolutions-DDB3',
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
    'AwsSolutions-IAM5[Resource::*]',
    // Every version of a function.
    'AwsSolutions-IAM5[Resource::<….Arn>:*]',
  ]);
  for (const { path, reasons } of toReasons(app)) {
    expect(path).toMatch(/^petstore-\w+\/\w+/);
    for (const reason of reasons) expect(reason).toMatch(/^.{40,}\.$/);
  }
});

async function build(deployments: readonly Stage[]): Promise<App> {
  deployments.forEach(checkStageSettings);
  const app = buildApp({ ...templatesOnly, outdir: folder }, deployments);
  await refuseFindings(app);
  return app;
}

function toReasons(app: App): { path: string; ids: string[]; reasons: string[] }[] {
  return app.node.findAll().flatMap((construct: IConstruct) =>
    construct.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .map(({ data }) => ({
        path: construct.node.path,
        // The CDK adds this prefix to the name of a rule.
        ids: Object.keys(data).map((id) => id.replace('Annotation::', '')),
        reasons: Object.values(data as Record<string, string>),
      })),
  );
}

function toAcknowledged(app: App): string[] {
  return toReasons(app).flatMap(({ ids }) => ids.map((id) => id.replace(/<\w+\.Arn>/, '<….Arn>')));
}
