import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { CodeDeployClient } from '@aws-sdk/client-codedeploy';
import { toCount } from '../../cli/progress.ts';
import { toRegion } from '../../cli/stageOption.ts';
import type { StageStack } from '../../cli/stageStack.ts';
import type { Stage } from '../../stages/stages.ts';
import { findDeployments, stopDeployment } from './deployments.ts';

/**
 * Offers to stop the deployments that are moving a stage's requests, in place of moving aliases under
 * their hands. Stopping moves the requests back, and fails the update of the stack, which CloudFormation
 * then takes back as a whole, so that nothing differs from what it knows.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployments-rollback-and-redeploy.html
 * @returns whether there were any
 */
export async function stopDeployments(
  stage: Stage,
  { name }: StageStack,
  isAgreed: (question: string) => Promise<boolean>,
): Promise<boolean> {
  const codeDeploy = new CodeDeployClient(toRegion(stage));
  const cloudFormation = new CloudFormationClient(toRegion(stage));
  const deployments = await findDeployments(cloudFormation, codeDeploy, name);
  if (deployments.length === 0) return false;
  print(`${stage.name} is being moved to new code. To stop that by hand:`);
  for (const { id } of deployments) {
    print(`  aws deploy stop-deployment --auto-rollback-enabled --deployment-id ${id}`);
  }
  if (!(await isAgreed(`Stop it (${toCount(deployments.length, 'deployment')}), and move back?`))) {
    print('Nothing was changed.');
    return true;
  }
  for (const deployment of deployments) {
    const wasRunning = await stopDeployment(codeDeploy, deployment);
    print(`${deployment.id} ${wasRunning ? 'is stopped' : 'was over already'}.`);
  }
  print(
    [
      'CodeDeploy moves the requests back, and CloudFormation the rest of the deployment. Wait for it:',
      `  aws cloudformation wait stack-rollback-complete --stack-name ${name}`,
      'Then look again with this command. Nothing needs to be deployed.',
    ].join('\n'),
  );
  return true;
}

/**
 * Refuses a stack that is about to move its aliases by itself.
 * @throws {Error} with what to do
 */
export function refuseMovingStack({ name, status }: StageStack): void {
  // What still runs then only clears away what is out of use.
  if (!status.endsWith('_IN_PROGRESS') || status.endsWith('CLEANUP_IN_PROGRESS')) return;
  const advice =
    status === 'UPDATE_IN_PROGRESS'
      ? `Take it back with aws cloudformation cancel-update-stack --stack-name ${name}`
      : 'Wait until it is done';
  throw new Error(
    `Nothing was moved: the stack ${name} is changing (${status}) and may move the aliases itself. ${advice}, and run this again.`,
  );
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
