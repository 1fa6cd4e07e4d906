import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { checkStageSettings } from './checkStageSettings.ts';
import { definePetstoreStack } from './petstoreStack.ts';
import { type StageName, type StageSettings, stages } from './stages.ts';
import { defineWatchStack } from './watchStack.ts';

// The CDK's own correction, without which CloudFormation reports the access log as drifted.
const context = { '@aws-cdk/aws-apigateway:logGroupDestinationArnWithoutWildcard': true };

/** The deployments to build; all, but in a test. */
export type StageTable = Readonly<Partial<Record<StageName, StageSettings>>>;

/**
 * Every deployment. Synthesizing looks nothing up: no credentials, no network, no account or region.
 * @throws {StageSettingsError} when a stage's settings make no sense
 */
export function buildApp(props?: AppProps, stageTable: StageTable = stages): App {
  const deployments = Object.entries(stageTable) as [StageName, StageSettings][];
  for (const [stage, settings] of deployments) checkStageSettings(stage, settings);
  const app = new App({ ...props, context: { ...context, ...props?.context } });
  // Fails the synthesis on any finding that no resource gives a reason for.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const [stage, settings] of deployments) {
    defineWatchStack(app, stage, settings, definePetstoreStack(app, stage, settings));
  }
  return app;
}
