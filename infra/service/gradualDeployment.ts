import { Validations } from 'aws-cdk-lib';
import type { IAlarm } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { mapOperations, type OperationId, operationIds } from '../../shared/contract/operations.ts';
import type { Rollout } from '../stages/stageSettings.ts';
import type { Stage } from '../stages/stages.ts';
import type { OperationFunctions } from './operationFunctions.ts';
import { defineRollbackAlarms, defineServerErrorAlarm } from './rollbackAlarms.ts';

/** How CodeDeploy moves the requests; without it, CloudFormation moves them at once. */
const deploymentConfigs: Record<Rollout, ILambdaDeploymentConfig | undefined> = {
  atOnce: undefined,
  canary10PercentFor5Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  linear10PercentEveryMinute: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
};

/** The function versions that clients are served by. */
export type LiveAliases = Record<OperationId, Alias>;

/**
 * An alias `live` per function, which the gateway calls. A deployment publishes a version and moves the
 * alias to it, at once or as the stage's `rollout` says.
 */
export function defineLiveAliases(
  scope: Construct,
  stage: Stage,
  functions: OperationFunctions,
): LiveAliases {
  const aliases: LiveAliases = mapOperations(
    (id) =>
      new Alias(scope, `${id}Live`, {
        aliasName: 'live',
        version: functions[id].currentVersion as IVersion,
      }),
  );
  const deploymentConfig = deploymentConfigs[stage.settings.rollout];
  if (deploymentConfig) {
    const serverErrors = defineServerErrorAlarm(scope, stage);
    for (const id of operationIds) {
      const alarms = [...defineRollbackAlarms(scope, stage, id, aliases[id]), serverErrors];
      defineDeploymentGroup(scope, id, aliases[id], deploymentConfig, alarms);
    }
  }
  return aliases;
}

function defineDeploymentGroup(
  scope: Construct,
  id: OperationId,
  alias: Alias,
  deploymentConfig: ILambdaDeploymentConfig,
  alarms: IAlarm[],
): void {
  const group = new LambdaDeploymentGroup(scope, `${id}Deployment`, {
    alias,
    deploymentConfig,
    alarms,
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
  });
  Validations.of(group).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    reason:
      "CodeDeploy's own narrow policy: it moves aliases, reads alarms and calls functions named CodeDeployHook_, of which there are none.",
  });
}
