import { join } from 'node:path';
import { Duration, Tags } from 'aws-cdk-lib';
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
import { toReservedConcurrency } from '../stages/concurrency.ts';
import { toFunctionLogName, toFunctionName } from '../stages/resourceNames.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';
import { toUsedTables } from '../stages/tableAccess.ts';
import { tables } from '../stages/tables.ts';
import { bundling, projectRoot, toEntry } from './bundling/bundling.ts';
import type { DataTables } from './dataTables.ts';
import { defineExecutionRole } from './executionRole.ts';
import { toKeptPolicy } from './keptPolicy.ts';
import { defineLogMetricFilters } from './logMetricFilters.ts';

export type OperationFunctions = Record<OperationId, NodejsFunction>;

/** One function per operation, each with its own role and log group. */
export function defineOperationFunctions(
  scope: Construct,
  stage: Stage,
  dataTables: DataTables,
  commit: string,
): OperationFunctions {
  const { settings } = stage;
  const removalPolicy = toKeptPolicy(settings);
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
      environment: { ...toEnvironment(operationId, stage, dataTables), COMMIT: commit },
      // A variable that only version 2 of the SDK reads.
      awsSdkConnectionReuse: false,
      role: defineExecutionRole(scope, operationId, logGroup, dataTables),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel[settings.logLevel],
      tracing: Tracing.ACTIVE,
      // A kept version is one that the alias can be sent back to. Its description is what it is known by:
      // Lambda refuses to publish the same code and settings twice, and CloudFormation replaces a version
      // whose description changes; that both change together, with the variable, lets the same code be
      // deployed from another commit. https://docs.aws.amazon.com/lambda/latest/dg/configuration-versions.html
      currentVersionOptions: { removalPolicy, description: commit },
    });
    defineLogMetricFilters(scope, stage, operationId, logGroup);
    Tags.of(fn).add('commit', commit);
    return fn;
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
