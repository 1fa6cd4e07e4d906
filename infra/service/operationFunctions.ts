import { join } from 'node:path';
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  ApplicationLogLevel,
  Architecture,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { mapOperations, type OperationId, operations } from '../../shared/contract/operations.ts';
import { toFunctionLogName, toFunctionName } from '../stages/resourceNames.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';
import { toUsedTables } from '../stages/tableAccess.ts';
import { tables } from '../stages/tables.ts';
import { bundling, projectRoot, toEntry } from './bundling/bundling.ts';
import type { DataTables } from './dataTables.ts';
import { defineExecutionRole } from './executionRole.ts';

export type OperationFunctions = Record<OperationId, NodejsFunction>;

/** One function per operation, each with its own role and log group. */
export function defineOperationFunctions(
  scope: Construct,
  stage: Stage,
  dataTables: DataTables,
): OperationFunctions {
  const { settings } = stage;
  const removalPolicy = settings.protectsData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
  const defineFunction = (operationId: OperationId) => {
    const logGroup = new LogGroup(scope, `${operationId}Logs`, {
      logGroupName: toFunctionLogName(stage, operationId),
      retention: settings.logRetentionDays,
      removalPolicy,
    });
    const reservedConcurrency = settings.reservedConcurrency?.[operationId];
    return new NodejsFunction(scope, operationId, {
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
      environment: toEnvironment(operationId, stage, dataTables),
      // A variable that only version 2 of the SDK reads.
      awsSdkConnectionReuse: false,
      role: defineExecutionRole(scope, operationId, logGroup, dataTables),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[settings.logLevel],
      tracing: Tracing.ACTIVE,
      // A kept version is one that the alias can be sent back to.
      currentVersionOptions: { removalPolicy },
    });
  };
  return mapOperations(defineFunction);
}

function toEnvironment(
  operationId: OperationId,
  { settings: { allowedOrigins, documentationAddress } }: Stage,
  dataTables: DataTables,
): Record<string, string> {
  return {
    ALLOWED_ORIGINS: allowedOrigins.join(','),
    DOCUMENTATION_ADDRESS: documentationAddress,
    ...Object.fromEntries(
      toUsedTables(operationId).map((name) => [tables[name].variable, dataTables[name].tableName]),
    ),
  };
}
