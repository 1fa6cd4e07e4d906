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
  const { Stacks: [stack] = [] } = await client.send(
    new DescribeStacksCommand({ StackName: name }),
  );
  const outputs = (stack?.Outputs ?? []).map(({ OutputKey = '', OutputValue = '' }) => [
    OutputKey,
    OutputValue,
  ]);
  return { name, status: stack?.StackStatus ?? '', outputs: Object.fromEntries(outputs) };
}

/** @throws {Error} when the stack does not have it */
export function readOutput({ name, outputs }: StageStack, output: string): string {
  const found = outputs[output];
  if (found !== undefined) return found;
  throw new Error(`The stack ${name} has no output ${output}; deploy it first.`);
}
