import { Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { OperationId } from '../../shared/contract/operations.ts';
import { toTableAccess, toUsedTables } from '../stages/tableAccess.ts';
import type { DataTables } from './dataTables.ts';

/**
 * What an operation's function may do: its actions on its tables, and writing to its own log group,
 * where the managed AWSLambdaBasicExecutionRole would let it write to every log group of the account.
 * Tracing adds X-Ray's two actions, which have no resource to be limited to.
 */
export function defineExecutionRole(
  scope: Construct,
  operationId: OperationId,
  logGroup: ILogGroup,
  dataTables: DataTables,
): Role {
  const role = new Role(scope, `${operationId}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  role.addToPolicy(
    new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logGroup.logGroupArn],
    }),
  );
  const access = toTableAccess(operationId);
  for (const name of toUsedTables(operationId)) {
    const actions = [...(access[name] ?? [])];
    const resources = [...dataTables[name].tableArns];
    role.addToPolicy(new PolicyStatement({ actions, resources }));
  }
  Validations.of(role).acknowledge({
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: "Only X-Ray's PutTraceSegments and PutTelemetryRecords, which have no resource.",
  });
  return role;
}
