import { join } from 'node:path';
import { Duration, Tags, Validations } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ApplicationLogLevel,
  Architecture,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { mapOperations, type OperationId, operations } from '../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import { projectRoot } from '../stages/projectRoot.ts';
import { toFunctionLogName, toFunctionName } from '../stages/resourceNames.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { operationSettings, type Stage, toTableAccess, toUsedTables } from '../stages/stages.ts';
import { tables } from '../stages/tables.ts';
import { bundling, toEntry } from './bundling/bundling.ts';
import { type DataTables, toKeptPolicy } from './dataTables.ts';
import { defineLogMetric } from './serviceMetrics.ts';

export type OperationFunctions = Record<OperationId, NodejsFunction>;

/** One function per operation, each with its own role and log group. */
export function defineOperationFunctions(
  scope: Construct,
  stage: Stage,
  dataTables: DataTables,
  commit: string,
): OperationFunctions {
  const { settings } = stage;
  const removalPolicy = toKeptPolicy(stage);
  const defineFunction = (operationId: OperationId) => {
    const logGroup = new LogGroup(scope, `${operationId}Logs`, {
      logGroupName: toFunctionLogName(stage, operationId),
      retention: settings.logRetentionDays,
      removalPolicy,
    });
    const reservedConcurrency = toReservedConcurrency(settings, operationId);
    const fn = new NodejsFunction(scope, operationId, {
      functionName: toFunctionName(stage, operationId),
      description: operations[operationId].summary,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      entry: toEntry(operationId),
      handler: 'handler',
      bundling,
      projectRoot,
      depsLockFilePath: join(projectRoot, 'package-lock.json'),
      memorySize: settings.memoryMegabytes[operationId],
      ...(reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: reservedConcurrency,
      }),
      timeout: Duration.seconds(operationSettings[operationId].timeoutSeconds),
      environment: { ...toEnvironment(operationId, settings, dataTables), COMMIT: commit },
      role: defineExecutionRole(scope, operationId, logGroup, dataTables),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[settings.logLevel],
      tracing: Tracing.ACTIVE,
      // The alias can go back to a kept version. Lambda refuses to publish the same code and settings twice, and
      // CloudFormation replaces a version if its description changes. The description and the variable COMMIT change
      // together, so the same code can be deployed from another commit.
      // https://docs.aws.amazon.com/lambda/latest/dg/configuration-versions.html
      currentVersionOptions: { removalPolicy, description: commit },
    });
    if (operations[operationId].streamed) {
      defineLogMetric(scope, stage, operationId, 'firstByte', logGroup);
    }
    Tags.of(fn).add('commit', commit);
    return fn;
  };
  return mapOperations(defineFunction);
}

function toEnvironment(
  operationId: OperationId,
  { allowedOrigins, documentationAddress, upgradesFrom }: StageSettings,
  dataTables: DataTables,
): Record<string, string> {
  return {
    ALLOWED_ORIGINS: allowedOrigins.join(','),
    DOCUMENTATION_ADDRESS: documentationAddress,
    ...Object.fromEntries(
      toUsedTables(operationId).map((name) => [tables[name].variable, dataTables[name].tableName]),
    ),
    ...(upgradesFrom && { UPGRADES_FROM: upgradesFrom }),
  };
}

/**
 * Grants a function its actions on its tables, and writing to its own log group. The managed
 * AWSLambdaBasicExecutionRole would let it write to every log group of the account. Tracing adds X-Ray's two actions,
 * which cannot be limited to a resource.
 */
function defineExecutionRole(
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
