import { checkStagePlace, checkStageSettings } from '../stages/checkStageSettings.ts';
import { type Stage, type StageName, stages } from '../stages/stages.ts';
import { log } from './output.ts';

/** @throws {StageSettingsError} if its settings are invalid, before anything is read or written */
export function parseStage(name: StageName): Stage {
  const stage = stages[name];
  checkStageSettings(stage);
  return stage;
}

/**
 * For commands that an incident needs: a wrong setting in the working copy must not hold them up. Each is one line.
 * @throws {StageSettingsError} if the name, account or region is invalid
 */
export function parseUrgentStage(name: StageName): Stage {
  const stage = stages[name];
  for (const line of checkStagePlace(stage)) log(`Warning: ${line}`);
  return stage;
}

/**
 * The region to which the CDK deploys a stage: the stage's own, or else that of the environment. The SDK reads
 * AWS_REGION and the profile, but not AWS_DEFAULT_REGION, which the CDK and the AWS CLI read:
 * https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
 */
export function findRegion({ settings }: Stage): { readonly region?: string } {
  const { AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  const region = settings.region || AWS_REGION || AWS_DEFAULT_REGION;
  return region ? { region } : {};
}
