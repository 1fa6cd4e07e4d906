import { Duration, Tags } from 'aws-cdk-lib';
import { ApplicationLogLevel, Tracing } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { mapOperations, type OperationId, operations } from '../../shared/contract/operations.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import { toNames } from '../stages/resourceNames.ts';
import { operationSettings, type Stage, toTableAccess, toUsedTables } from '../stages/stages.ts';
import { tables } from '../stages/tables.ts';
import { bundling, toEntry } from './bundling/bundling.ts';
import { type DataTables, toKeptPolicy } from './dataTables.ts';
import { defineFunction } from './lambdaFunction.ts';
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
  const { allowedOrigins, documentationAddress } = settings;
  const removalPolicy = toKeptPolicy(stage);
  return mapOperations((operationId) => {
    const access = toTableAccess(operationId);
    const used = toUsedTables(operationId);
    const reservedConcurrency = toReservedConcurrency(settings, operationId);
    const fn = defineFunction(scope, operationId, stage, {
      functionName: toNames(stage).toFunction(operationId),
      description: operations[operationId].summary,
      entry: toEntry(operationId),
      bundling,
      memorySize: settings.memoryMegabytes[operationId],
      ...(reservedConcurrency !== undefined && {
        reservedConcurrentExecutions: reservedConcurrency,
      }),
      timeout: Duration.seconds(operationSettings[operationId].timeoutSeconds),
      environment: {
        ALLOWED_ORIGINS: allowedOrigins.join(','),
        DOCUMENTATION_ADDRESS: documentationAddress,
        ...Object.fromEntries(
          used.map((name) => [tables[name].variable, dataTables[name].tableName]),
        ),
        COMMIT: commit,
      },
      grants: used.map((name) => [access[name] ?? [], dataTables[name].tableArns]),
      unlimited: "Only X-Ray's PutTraceSegments and PutTelemetryRecords, which have no resource.",
      logPolicy: removalPolicy,
      applicationLogLevelV2: ApplicationLogLevel[settings.logLevel],
      tracing: Tracing.ACTIVE,
      // The alias can go back to a kept version. Lambda refuses to publish the same code and settings twice, and
      // CloudFormation replaces a version if its description changes. The description and the variable COMMIT change
      // together, so the same code can be deployed from another commit.
      // https://docs.aws.amazon.com/lambda/latest/dg/configuration-versions.html
      currentVersionOptions: { removalPolicy, description: commit },
    });
    if (operations[operationId].streamed) {
      defineLogMetric(scope, stage, operationId, 'FirstByte', fn.logGroup);
    }
    Tags.of(fn).add('commit', commit);
    return fn;
  });
}
