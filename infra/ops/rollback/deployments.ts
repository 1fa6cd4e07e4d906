import {
  CodeDeployClient,
  type DeploymentStatus,
  ListDeploymentTargetsCommand,
  paginateListDeployments,
  StopDeploymentCommand,
} from '@aws-sdk/client-codedeploy';
import { operationIds } from '../../../shared/contract/operations.ts';
import { toCount } from '../../cli/output.ts';
import { ignoring, type OpenStage } from '../../cli/stageStack.ts';
import { toNames } from '../../stages/resourceNames.ts';

/** States in which a deployment may still move an alias. */
const running: DeploymentStatus[] = ['Created', 'Queued', 'InProgress', 'Baking', 'Ready'];

/**
 * Offers to stop the deployments that are moving a stage's requests, instead of moving the same aliases.
 * Stopping moves the requests back and fails the update of the stack. CloudFormation then rolls back the
 * whole update, so the stack matches its state.
 * https://docs.aws.amazon.com/codedeploy/latest/userguide/deployments-rollback-and-redeploy.html
 * @param say prints a line
 * @returns those that were stopped; `undefined` if there were none to stop
 */
export async function stopDeployments(
  stack: OpenStage,
  isAgreed: (question: string) => Promise<boolean>,
  say: (line: string) => void,
): Promise<string[] | undefined> {
  const { stage, name, open } = stack;
  const deployments = await findDeployments(stack);
  if (deployments.length === 0) return undefined;
  say(`${stage.name} is being moved to new code, by ${deployments.join(', ')}.`);
  if (!(await isAgreed(`Stop it (${toCount(deployments.length, 'deployment')}), and move back?`))) {
    say('Nothing was changed.');
    return [];
  }
  for (const deploymentId of deployments) {
    const stop = new StopDeploymentCommand({ deploymentId, autoRollbackEnabled: true });
    const stopping = open(CodeDeployClient).send(stop);
    const stopped = await ignoring('DeploymentAlreadyCompletedException', stopping);
    say(`${deploymentId} ${stopped ? 'is stopped' : 'was over already'}.`);
  }
  say(
    [
      'CodeDeploy moves the requests back, and CloudFormation the rest of the deployment. Wait for it:',
      `  aws cloudformation wait stack-rollback-complete --stack-name ${name}`,
      'Then look again with this command. Nothing needs to be deployed.',
    ].join('\n'),
  );
  return deployments;
}

/** @throws {Error} with what to do, where the stack is about to move its aliases by itself */
export function refuseMovingStack(name: string, status: string): void {
  // In these states, only unused resources are still being deleted.
  if (!status.endsWith('_IN_PROGRESS') || status.endsWith('CLEANUP_IN_PROGRESS')) return;
  throw new Error(
    `Nothing was moved: the stack ${name} is changing (${status}) and may move the aliases itself. Wait until it is done, or take an update back with aws cloudformation cancel-update-stack --stack-name ${name}, and run this again.`,
  );
}

/**
 * The ids of a stage's current deployments. CodeDeploy lists all in the account and region, each with its functions.
 * https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_ListDeploymentTargets.html
 */
export async function findDeployments({ stage, open }: OpenStage): Promise<string[]> {
  const names = operationIds.map((id) => toNames(stage).toFunction(id));
  const client = open(CodeDeployClient);
  const found: string[] = [];
  const pages = paginateListDeployments({ client }, { includeOnlyStatuses: running });
  for await (const { deployments = [] } of pages) {
    for (const deploymentId of deployments) {
      const { targetIds = [] } = await client.send(
        new ListDeploymentTargetsCommand({ deploymentId }),
      );
      // A function's name, which may have an alias behind it.
      const isOurs = targetIds.some((id) => id.split(':').some((part) => names.includes(part)));
      if (isOurs) found.push(deploymentId);
    }
  }
  return found;
}
