import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
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
  const client = new CloudFormationClient(toRegion(stage));
  const command = new DescribeStacksCommand({ StackName: name });
  const { Stacks = [] } = await client.send(command).catch(async (error: Error) => {
    if (!/does not exist/.test(error.message)) throw error;
    throw new Error(
      `There is no stack ${name} in ${await client.config.region()} of this account: npm run deploy ${name} makes it; or export AWS_REGION or AWS_PROFILE of where it is.`,
    );
  });
  const outputs = Stacks[0]?.Outputs?.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]);
  return { name, status: Stacks[0]?.StackStatus ?? '', outputs: Object.fromEntries(outputs ?? []) };
}

export function readOutput({ name, outputs }: StageStack, output: string): string {
  const found = outputs[output];
  if (found !== undefined) return found;
  throw new Error(
    `The stack ${name} has no output ${output}: npm run deploy ${name} brings it up to date.`,
  );
}
