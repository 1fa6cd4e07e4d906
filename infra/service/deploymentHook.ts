import { join } from 'node:path';
import { type CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct, IConstruct } from 'constructs';
import { operationIds } from '../../shared/contract/operations.ts';
import { toNames } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';
import { tables } from '../stages/tables.ts';
import type { DataTables } from './dataTables.ts';
import { readTableNames } from './hook/probes.ts';
import { defineFunction } from './lambdaFunction.ts';
import type { OperationFunctions } from './operationFunctions.ts';

/** The function by which every new version proves itself before CodeDeploy sends it requests. */
export function defineDeploymentHook(
  scope: Construct,
  stage: Stage,
  functions: OperationFunctions,
  dataTables: DataTables,
): IFunction {
  const all = operationIds.map((id) => functions[id].functionArn);
  const hook = defineFunction(scope, 'Hook', stage, {
    functionName: toNames(stage).toFunction('hook'),
    description: 'Calls each new version before its first client',
    entry: join(import.meta.dirname, 'hook/handler.ts'),
    timeout: Duration.minutes(5),
    environment: Object.fromEntries(
      (['apiKeys', ...readTableNames] as const).map((name) => [
        tables[name].variable,
        dataTables[name].tableName,
      ]),
    ),
    grants: [
      // The versions of this deployment have no names yet. A streamed call needs no other permission.
      [['lambda:InvokeFunction'], all.map((arn) => `${arn}:*`)],
      [['lambda:GetFunctionConcurrency'], all],
      [['dynamodb:Scan'], readTableNames.flatMap((name) => dataTables[name].tableArns)],
      [['dynamodb:PutItem', 'dynamodb:DeleteItem'], dataTables.apiKeys.tableArns],
      [['codedeploy:ListDeploymentTargets', 'codedeploy:GetDeploymentTarget'], ['*']],
    ],
    unlimited: "Only CodeDeploy's reads of a deployment's targets, which have no resource.",
  });
  for (const id of operationIds) acknowledgeVersions(hook.role as IRole, functions[id]);
  return hook;
}

/** Explains to cdk-nag why a role may call every version of a function. */
export function acknowledgeVersions(role: IConstruct, { node: { defaultChild } }: IFunction): void {
  const logicalId = Stack.of(role).getLogicalId(defaultChild as CfnElement);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
    reason: 'Any version of this one function, since each deployment makes another.',
  });
}
