import { type Stage, type StageName, stageNames, stages } from '../stages/stages.ts';
import { UsageError } from './usage.ts';

/** How the option is written, for help and complaints: `--stage staging|production`. */
export const stageUsage = `--stage ${stageNames.join('|')}`;

export function parseStage(name: string | undefined): Stage {
  if (name !== undefined && Object.hasOwn(stages, name)) return stages[name as StageName];
  const found = name === undefined ? 'missing' : `"${name}"`;
  throw new UsageError(`--stage must be ${stageNames.join(' or ')}; it is ${found}.`);
}

/**
 * Where a command looks for a stage, which is where the CDK deploys it to: the stage's own region, or
 * else that of the environment. The SDK reads AWS_REGION and the profile by itself, but not
 * AWS_DEFAULT_REGION, which the CDK and the AWS CLI go by:
 * https://docs.aws.amazon.com/cli/latest/userguide/cli-configure-envvars.html
 */
export function toRegion(
  { settings }: Stage,
  { AWS_REGION, AWS_DEFAULT_REGION }: NodeJS.ProcessEnv = process.env,
): { readonly region?: string } {
  const region = settings.region || AWS_REGION || AWS_DEFAULT_REGION;
  return region ? { region } : {};
}
