import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { definePetstoreStack } from './petstoreStack.ts';
import { checkStageSettings, StageSettingsError } from './stages/checkStageSettings.ts';
import { readCommit } from './stages/commit.ts';
import { type Stage, stages } from './stages/stages.ts';
import { defineWatchStack } from './watch/watchStack.ts';

// The CDK's own correction, without which CloudFormation reports the access log as drifted.
const context = { '@aws-cdk/aws-apigateway:logGroupDestinationArnWithoutWildcard': true };

/**
 * Every deployment. Synthesizing looks nothing up: no credentials, no network, no account or region.
 * @param deployments all, but in a test
 * @throws {StageSettingsError} when a stage's settings make no sense
 */
export function buildApp(
  props?: AppProps,
  deployments: readonly Stage[] = Object.values(stages),
  commit: string = readCommit(),
): App {
  for (const stage of deployments) checkStageSettings(stage);
  const app = new App({ ...props, context: { ...context, ...props?.context } });
  // Fails the synthesis on any finding that no resource gives a reason for.
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  for (const stage of deployments) {
    defineWatchStack(app, stage, definePetstoreStack(app, stage, commit));
  }
  return app;
}

/** Writes the templates of every deployment, or says in one line which setting is wrong, with status 1. */
export function synthesize(deployments?: readonly Stage[]): void {
  try {
    buildApp(undefined, deployments).synth();
  } catch (error) {
    if (!(error instanceof StageSettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
