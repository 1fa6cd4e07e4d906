import { App, Validations } from 'aws-cdk-lib';
import { Topic } from 'aws-cdk-lib/aws-sns';
import type { IConstruct } from 'constructs';
import { afterAll, expect, it, vi } from 'vitest';
import { buildApp } from '../../infra/buildApp.ts';
import type { Stage } from '../../infra/stages/stages.ts';
import { refuseFindings, synthesize } from '../../infra/synthesize.ts';
import { changedStage, fixtures } from '../support/stageFixtures.ts';
import { openTemporaryFolder } from '../support/temporaryFolder.ts';

const { folder: outdir } = openTemporaryFolder();
afterAll(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});
const context = { 'aws:cdk:bundling-stacks': [] };

it('stops the synthesis at a resource that no reason is given for', { timeout: 60_000 }, () => {
  vi.stubEnv('CDK_OUTDIR', outdir);
  vi.stubEnv('CDK_CONTEXT_JSON', JSON.stringify(context));
  const { synth } = App.prototype;
  vi.spyOn(App.prototype, 'synth').mockImplementationOnce(function addTopic(this: App) {
    new Topic(this.node.findChild('petstore-staging-watch') as never, 'Careless');
    return synth.call(this);
  });
  expect(() => synthesize([fixtures.staging])).toThrow(
    /petstore-staging-watch\/Careless[\s\S]*AwsSolutions-SNS3/,
  );
});

it('lets production through with every setting changed, and the firewall on, which leaves one finding less to explain', () => {
  const app = build([changedStage]);
  expect(toAcknowledged(app)).not.toContain('AwsSolutions-APIG3');
  expect(() => app.synth()).not.toThrow();
});

it('gives a reason beside the resource for each finding that it lets pass, and for no whole stack', () => {
  const app = build(Object.values(fixtures));
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
  ]);
  for (const { path, reasons } of toReasons(app)) {
    expect(path).toMatch(/^petstore-\w+\/\w+/);
    for (const reason of reasons) expect(reason).toMatch(/^.{40,}\.$/);
  }
});

function build(deployments: readonly Stage[]): App {
  const app = buildApp({ outdir, context }, deployments);
  refuseFindings(app);
  return app;
}

function toReasons(app: App): { path: string; ids: string[]; reasons: string[] }[] {
  return app.node.findAll().flatMap((construct: IConstruct) =>
    construct.node.metadata
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
      .map(({ data }) => ({
        path: construct.node.path,
        // The CDK's own prefix, which the name of a rule is looked up with.
        ids: Object.keys(data).map((id) => id.replace('Annotation::', '')),
        reasons: Object.values(data as Record<string, string>),
      })),
  );
}

function toAcknowledged(app: App): string[] {
  return toReasons(app).flatMap(({ ids }) => ids);
}
