import { join } from 'node:path';
import { type CfnElement, Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, type IFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import { operationIds } from '../../shared/contract/operations.ts';
import { projectRoot } from '../stages/projectRoot.ts';
import { toHookLogName, toHookName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { tables } from '../stages/tables.ts';
import { toolBundling } from './bundling/bundling.ts';
import type { DataTables } from './dataTables.ts';
import { readTableNames } from './hook/probes.ts';
import type { OperationFunctions } from './operationFunctions.ts';

/** The function by which every new version proves itself before CodeDeploy sends it requests. */
export function defineDeploymentHook(
  scope: Construct,
  stage: Stage,
  functions: OperationFunctions,
  dataTables: DataTables,
): NodejsFunction {
  const logGroup = new LogGroup(scope, 'HookLogs', {
    logGroupName: toHookLogName(stage),
    retention: stage.settings.logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = new Role(scope, 'HookRole', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  const all = operationIds.map((id) => functions[id].functionArn);
  const grants: [actions: string[], resources: readonly string[]][] = [
    [['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]],
    // The versions of this deployment have no names yet. A streamed call needs no other permission.
    [['lambda:InvokeFunction'], all.map((arn) => `${arn}:*`)],
    [['lambda:GetFunctionConcurrency'], all],
    [['dynamodb:Scan'], readTableNames.flatMap((name) => dataTables[name].tableArns)],
    [['dynamodb:PutItem', 'dynamodb:DeleteItem'], dataTables.apiKeys.tableArns],
    [['codedeploy:ListDeploymentTargets', 'codedeploy:GetDeploymentTarget'], ['*']],
  ];
  for (const [actions, resources] of grants) {
    role.addToPolicy(new PolicyStatement({ actions, resources: [...resources] }));
  }
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: "Only CodeDeploy's reads of a deployment's targets, which have no resource.",
  });
  for (const id of operationIds) acknowledgeVersions(role, functions[id]);
  return new NodejsFunction(scope, 'Hook', {
    functionName: toHookName(stage),
    description: 'Calls each new version before its first client',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    entry: join(import.meta.dirname, 'hook/handler.ts'),
    bundling: toolBundling,
    projectRoot,
    depsLockFilePath: join(projectRoot, 'package-lock.json'),
    memorySize: 256,
    timeout: Duration.minutes(5),
    environment: Object.fromEntries(
      (['apiKeys', ...readTableNames] as const).map((name) => [
        tables[name].variable,
        dataTables[name].tableName,
      ]),
    ),
    role,
    logGroup,
    loggingFormat: LoggingFormat.JSON,
  });
}

/** Explains to cdk-nag why a role may call every version of a function. */
export function acknowledgeVersions(role: IConstruct, { node: { defaultChild } }: IFunction): void {
  const logicalId = Stack.of(role).getLogicalId(defaultChild as CfnElement);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
    reason: 'Any version of this one function, since each deployment makes another.',
  });
}
