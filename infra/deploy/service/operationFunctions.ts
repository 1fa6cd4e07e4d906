import { createHash } from 'node:crypto';
import { type CfnElement, Duration, type RemovalPolicy, Stack } from 'aws-cdk-lib';
import { ApplicationLogLevel, type IFunction, Tracing, Version } from 'aws-cdk-lib/aws-lambda';
import type { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import {
  mapOperations,
  type OperationId,
  operations,
} from '../../../shared/contract/operations.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import { toNames } from '../../stages/resourceNames.ts';
import {
  findTableAccess,
  listUsedTables,
  operationSettings,
  type Stage,
} from '../../stages/stages.ts';
import { tables } from '../../stages/tables.ts';
import { bundling, toEntry } from '../bundling/bundling.ts';
import { chooseRemovalPolicy, type DataTables } from './dataTables.ts';
import { defineFunction } from './lambdaFunction.ts';
import { defineLogMetric } from './serviceMetrics.ts';

export type OperationFunctions = ReturnType<typeof defineOperationFunctions>;

/** One function per operation, each with its own role and log group. */
export function defineOperationFunctions(scope: Construct, stage: Stage, dataTables: DataTables) {
  const { settings } = stage;
  const { allowedOrigins, documentationAddress } = settings;
  const removalPolicy = chooseRemovalPolicy(stage);
  return mapOperations((operationId) => {
    const access = findTableAccess(operationId);
    const used = listUsedTables(operationId);
    const reservedConcurrency = findReservedConcurrency(settings, operationId);
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
      },
      grants: used.map((name) => [access[name] ?? [], dataTables[name].tableArns]),
      unlimited: "Only X-Ray's PutTraceSegments and PutTelemetryRecords, which have no resource.",
      logPolicy: removalPolicy,
      applicationLogLevelV2: ApplicationLogLevel[settings.logLevel],
      tracing: Tracing.ACTIVE,
    });
    if (operations[operationId].streamed) {
      defineLogMetric(scope, stage, operationId, 'FirstByte', fn.logGroup);
    }
    return { fn, ...defineVersion(scope, operationId, fn, removalPolicy) };
  });
}

/**
 * The version's name is a digest of what a version has: bundle and configuration. A variable, its description and its
 * logical id have the digest. So CloudFormation publishes a version exactly when Lambda finds it different from the last
 * one. The CDK's `currentVersion` has a hash of its own, which may change without the function.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-versions.html
 */
function defineVersion(
  scope: Construct,
  id: OperationId,
  fn: NodejsFunction,
  removalPolicy: RemovalPolicy,
) {
  const digest = computeDigest(fn);
  fn.addEnvironment('VERSION_DIGEST', digest);
  // The alias can go back to a kept version.
  const props = { lambda: fn as IFunction, description: digest, removalPolicy };
  return { digest, version: new Version(scope, `${id}Version${digest}`, props) };
}

/** Neither tags nor reserved concurrency are part of a version. */
function computeDigest({ node: { defaultChild } }: NodejsFunction): string {
  const stack = Stack.of(defaultChild as CfnElement);
  const { Resources } = stack.resolve((defaultChild as CfnElement)._toCloudFormation());
  const [resource] = Object.values<{ Properties: Record<string, unknown> }>(Resources);
  const { Tags, ReservedConcurrentExecutions, ...versioned } = resource?.Properties ?? {};
  const hash = createHash('sha256').update(JSON.stringify(versioned, sortMembers));
  return hash.digest('hex').slice(0, 16);
}

/** The same members in another order are the same configuration. */
function sortMembers(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
