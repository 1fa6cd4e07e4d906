import {
  CloudFormationClient,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation';
import { toStackName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { toRegion } from './stageOption.ts';

/** A deployed stage, as CloudFormation knows it. */
export interface StageStack {
  readonly name: string;
  /** Such as `UPDATE_COMPLETE`. */
  readonly status: string;
  readonly outputs: Readonly<Record<string, string>>;
}

/** @throws {Error} when the stage was never deployed there */
export async function readStack(stage: Stage): Promise<StageStack> {
  const name = toStackName(stage);
  const stack = await describeStack(new CloudFormationClient(toRegion(stage)), name);
  const outputs = (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [
    OutputKey,
    OutputValue,
  ]);
  return { name, status: stack?.StackStatus ?? '', outputs: Object.fromEntries(outputs) };
}

async function describeStack(
  client: CloudFormationClient,
  StackName: string,
): Promise<Stack | undefined> {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0];
  } catch (error) {
    if (!/does not exist/.test((error as Error).message)) throw error;
    throw new Error(
      `There is no stack ${StackName} in ${await client.config.region()} of this account: npm run deploy ${StackName} makes it; or export AWS_REGION or AWS_PROFILE of where it is.`,
    );
  }
}

export function readOutput({ name, outputs }: StageStack, output: string): string {
  const found = outputs[output];
  if (found !== undefined) return found;
  throw new Error(
    `The stack ${name} has no output ${output}: npm run deploy ${name} brings it up to date.`,
  );
}
