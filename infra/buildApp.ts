import { Annotations, App, type AppProps, type Stack } from 'aws-cdk-lib';
import { defineBackupStack } from './service/backups.ts';
import { defineServiceStack } from './service/serviceStack.ts';
import { findExampleSettings } from './stages/addresses.ts';
import { checkStageSettings } from './stages/checkStageSettings.ts';
import { isEdited, readCommit } from './stages/commit.ts';
import { type Stage, stages } from './stages/stages.ts';
import { defineWatchStack } from './watch/watchStack.ts';

// A feature flag of the CDK. Without it, CloudFormation reports the access log as drifted.
const context = { '@aws-cdk/aws-apigateway:logGroupDestinationArnWithoutWildcard': true };

/**
 * Builds every deployment. Synthesis needs no credentials, network, account or region.
 * @param deployments all stages, except in tests
 * @throws {StageSettingsError} when a stage's settings are invalid
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
    // The copies need their vault first.
    if (backupRegion) service.addStackDependency(defineBackupStack(app, stage, backupRegion));
    defineWatchStack(app, stage, service);
    refuseExamples(service, stage);
    if (protectsData && isDeployable(stage) && isEdited(commit)) {
      Annotations.of(service).addWarningV2(
        'petstore:edited-tree',
        `${stage.name} would be deployed from uncommitted files (${commit}). Commit them first, so that the live code can be identified.`,
      );
    }
  }
  return app;
}

/** A deployment has an account, from the credentials or the settings. Without one this is a test or a trial run. */
function isDeployable({ settings }: Stage): boolean {
  return (settings.account ?? process.env.CDK_DEFAULT_ACCOUNT) !== undefined;
}

/** Example settings are an error in a deployment. Otherwise they are a warning, which stops `cdk deploy --strict`. */
function refuseExamples(service: Stack, stage: Stage): void {
  const line = findExampleSettings(stage);
  if (line === undefined) return;
  if (isDeployable(stage)) Annotations.of(service).addError(line);
  else Annotations.of(service).addWarningV2('petstore:example-settings', line);
}
