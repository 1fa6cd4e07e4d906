import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotations, App, type AppProps, type Stack, Validations } from 'aws-cdk-lib';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { log } from '../cli/output.ts';
import { findExampleSettings } from '../stages/addresses.ts';
import { checkStageSettings, StageSettingsError } from '../stages/checkStageSettings.ts';
import { CommitError, isEdited, readCommit, unknownCommit } from '../stages/commit.ts';
import { hasStack, toNames } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { defineBackupStack } from './service/backups.ts';
import { defineServiceStack } from './service/serviceStack.ts';
import { defineWatchStack } from './watch/watchStack.ts';

/**
 * Writes the templates of the deployments. Invalid settings end it with one line and status 1.
 * @param all of which `cdk synth --exclusively STACK…` builds the stages with these stacks
 */
export async function synthesize(all: readonly Stage[]): Promise<void> {
  try {
    const deployments = chooseDeployments(all);
    deployments.forEach(checkStageSettings);
    const app = buildApp(undefined, deployments);
    await refuseFindings(app);
    app.synth();
  } catch (error) {
    if (!(error instanceof StageSettingsError || error instanceof CommitError)) throw error;
    log(error.message);
    process.exitCode = 1;
  }
}

/** The CDK's command names the stacks only with `--exclusively`. Otherwise it names all, or none to bundle. */
function chooseDeployments(all: readonly Stage[]): readonly Stage[] {
  const app = new App({ autoSynth: false });
  const patterns: string[] = app.node.tryGetContext(BUNDLING_STACKS) ?? [];
  const chosen = all.filter((stage) => patterns.some((pattern) => hasStack(stage, pattern)));
  return chosen.length > 0 ? chosen : all;
}

/** Builds the templates alone. The functions' bundles, the traces of constructs and the checks take most of the time. */
export const templatesOnly = {
  context: {
    'aws:cdk:bundling-stacks': [],
    'aws:cdk:disable-stack-trace': true,
    'aws:cdk:disable-creation-stack-traces': true,
  },
  treeMetadata: false,
  builtinCloudFormationValidation: false,
} satisfies AppProps;

export function buildTemplates(stage: Stage) {
  using outdir = mkdtempDisposableSync(join(tmpdir(), 'petstore-templates-'));
  const props = { ...templatesOnly, outdir: outdir.path };
  const assembly = buildApp(props, [stage], unknownCommit).synth();
  const { stack, watchStack } = toNames(stage);
  return [stack, watchStack].map((name) => assembly.getStackByName(name).template);
}

/** Makes the synthesis fail at any finding of cdk-nag's AwsSolutions rules without a reason beside the resource. */
export async function refuseFindings(app: App): Promise<void> {
  // It takes as long to load as the CDK, and commands that only count resources do without.
  const { AwsSolutionsChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}

// A feature flag of the CDK. Without it, CloudFormation reports the access log as drifted.
const context = { '@aws-cdk/aws-apigateway:logGroupDestinationArnWithoutWildcard': true };

/** Synthesis needs no credentials, network, account or region. @param deployments with valid settings */
export function buildApp(
  props: AppProps | undefined,
  deployments: readonly Stage[],
  commit: string = readCommit(),
): App {
  const app = new App({ ...props, context: { ...context, ...props?.context } });
  for (const [index, stage] of deployments.entries()) {
    const service = defineServiceStack(app, stage, commit, index);
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
