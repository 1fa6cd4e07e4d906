import { Annotations, App, type AppProps, type Stack } from 'aws-cdk-lib';
import { defineBackupStack } from './service/backups.ts';
import { defineServiceStack } from './service/serviceStack.ts';
import { findExampleSettings } from './stages/addresses.ts';
import { checkStageSettings } from './stages/checkStageSettings.ts';
import { isEdited, readCommit } from './stages/commit.ts';
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
  for (const [place, stage] of deployments.entries()) {
    const service = defineServiceStack(app, stage, commit, place);
    const { backupRegion, protectsData } = stage.settings;
    // Copies need the vault that they go to.
    if (backupRegion) service.addStackDependency(defineBackupStack(app, stage, backupRegion));
    defineWatchStack(app, stage, service);
    refuseExamples(service, stage);
    if (protectsData && isDeployable(stage) && isEdited(commit)) {
      Annotations.of(service).addWarningV2(
        'petstore:edited-tree',
        `${stage.name} would be deployed from files that are in no commit (${commit}): commit them first, so that what is live can be found again.`,
      );
    }
  }
  return app;
}

/**
 * The CDK tells by an account: that of the credentials in use, or of the settings. Without one this is a test or a first
 * look.
 */
function isDeployable({ settings }: Stage): boolean {
  return (settings.account ?? process.env.CDK_DEFAULT_ACCOUNT) !== undefined;
}

/**
 * Settings that are examples still stop what is about to be deployed; elsewhere they are a warning, at which
 * `cdk deploy --strict` of the assembly stops.
 */
function refuseExamples(service: Stack, stage: Stage): void {
  const line = findExampleSettings(stage);
  if (line === undefined) return;
  if (isDeployable(stage)) Annotations.of(service).addError(line);
  else Annotations.of(service).addWarningV2('petstore:example-settings', line);
}
