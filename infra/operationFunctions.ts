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
import { type OperationId, operations } from '../shared/contract/operations.ts';
import { bundling, projectRoot, toEntry } from './bundling.ts';
import type { DataTables } from './dataTables.ts';
import { defineExecutionRole } from './executionRole.ts';
import { operationSettings, toTableAccess } from './operationSettings.ts';
import { toFunctionLogName, toFunctionName } from './resourceNames.ts';
import type { StageName, StageSettings } from './stages.ts';
import { type TableName, tables } from './tables.ts';

export type OperationFunctions = Record<OperationId, NodejsFunction>;

/** One function per operation, each with its own role and log group. */
export function defineOperationFunctions(
  scope: Construct,
  stage: StageName,
  settings: StageSettings,
  dataTables: DataTables,
): OperationFunctions {
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
      environment: toEnvironment(operationId, settings, dataTables),
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
  const ids = Object.keys(operations) as OperationId[];
  return Object.fromEntries(ids.map((id) => [id, defineFunction(id)])) as OperationFunctions;
}

function toEnvironment(
  operationId: OperationId,
  { allowedOrigins }: StageSettings,
  dataTables: DataTables,
): Record<string, string> {
  const used = Object.keys(toTableAccess(operationId)) as TableName[];
  return {
    ALLOWED_ORIGINS: allowedOrigins.join(','),
    ...Object.fromEntries(used.map((name) => [tables[name].variable, dataTables[name].tableName])),
  };
}
