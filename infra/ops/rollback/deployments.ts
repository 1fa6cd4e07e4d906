import {
  type CloudFormationClient,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import {
  BatchGetDeploymentsCommand,
  type CodeDeployClient,
  type DeploymentStatus,
  paginateListDeployments,
  StopDeploymentCommand,
} from '@aws-sdk/client-codedeploy';

/** Those in which a deployment may still move an alias. */
const running: DeploymentStatus[] = ['Created', 'Queued', 'InProgress', 'Baking', 'Ready'];
/** As many as one call tells of: https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_BatchGetDeployments.html */
const BATCH = 25;

/** CodeDeploy is moving the requests of one function to new code. */
export interface RunningDeployment {
  readonly id: string;
  readonly group: string;
}

/**
 * The deployments of a stack that are under way. CodeDeploy lists them by application and group, or all
 * of the account and region at once; the stack names only the groups.
 * https://docs.aws.amazon.com/codedeploy/latest/APIReference/API_ListDeployments.html
 */
export async function findDeployments(
  cloudFormation: CloudFormationClient,
  codeDeploy: CodeDeployClient,
  stackName: string,
): Promise<RunningDeployment[]> {
  const groups = await readDeploymentGroups(cloudFormation, stackName);
  if (groups.size === 0) return [];
  const found: RunningDeployment[] = [];
  const pages = paginateListDeployments(
    { client: codeDeploy },
    { includeOnlyStatuses: [...running] },
  );
  for await (const { deployments = [] } of pages) {
    for (let start = 0; start < deployments.length; start += BATCH) {
      const deploymentIds = deployments.slice(start, start + BATCH);
      const { deploymentsInfo = [] } = await codeDeploy.send(
        new BatchGetDeploymentsCommand({ deploymentIds }),
      );
      for (const { deploymentId: id = '', deploymentGroupName: group = '' } of deploymentsInfo) {
        if (groups.has(group)) found.push({ id, group });
      }
    }
  }
  return found;
}

async function readDeploymentGroups(
  client: CloudFormationClient,
  stackName: string,
): Promise<Set<string>> {
  const groups = new Set<string>();
  for await (const page of paginateListStackResources({ client }, { StackName: stackName })) {
    for (const { ResourceType, PhysicalResourceId } of page.StackResourceSummaries ?? []) {
      if (ResourceType !== 'AWS::CodeDeploy::DeploymentGroup') continue;
      // The group's name, or, as for other resources of two names, that behind the application's.
      groups.add(PhysicalResourceId?.split('|').at(-1) ?? '');
    }
  }
  return groups;
}

/**
 * Ends a deployment, and lets CodeDeploy move its requests back.
 * @returns whether it was still under way
 */
export async function stopDeployment(
  client: CodeDeployClient,
  { id }: RunningDeployment,
): Promise<boolean> {
  try {
    await client.send(new StopDeploymentCommand({ deploymentId: id, autoRollbackEnabled: true }));
    return true;
  } catch (error) {
    if ((error as Error).name === 'DeploymentAlreadyCompletedException') return false;
    throw error;
  }
}
