import { type App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { buildApp } from './buildApp.ts';
import { tell } from './cli/output.ts';
import { StageSettingsError } from './stages/checkStageSettings.ts';
import { CommitError } from './stages/commit.ts';
import type { Stage } from './stages/stages.ts';

/** Writes the templates of every deployment. Invalid settings end it with one line and status 1. */
export function synthesize(deployments?: readonly Stage[]): void {
  try {
    const app = buildApp(undefined, deployments);
    refuseFindings(app);
    app.synth();
  } catch (error) {
    if (!(error instanceof StageSettingsError || error instanceof CommitError)) throw error;
    tell(error.message);
    process.exitCode = 1;
  }
}

/** Makes the synthesis fail at any finding of cdk-nag's AwsSolutions rules without a reason beside the resource. */
export function refuseFindings(app: App): void {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
