import { join } from 'node:path';
import { RemovalPolicy, Validations } from 'aws-cdk-lib';
import { type Conditions, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, type NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { projectRoot } from '../../stages/projectRoot.ts';
import type { Stage } from '../../stages/stages.ts';
import { toolBundling } from '../bundling/bundling.ts';

interface FunctionProps extends NodejsFunctionProps {
  readonly functionName: string;
  /** What it may do, beside writing to its own log. */
  readonly grants: readonly (readonly [
    actions: readonly string[],
    resources: readonly string[],
    conditions?: Conditions,
  ])[];
  /** Which of its actions have no resource. */
  readonly unlimited?: string;
  /** What happens to its log when the stack no longer uses it; by default it goes. */
  readonly logPolicy?: RemovalPolicy;
}

/**
 * A function with a log group and a role of its own. The managed AWSLambdaBasicExecutionRole would let it write to
 * every log group of the account.
 */
export function defineFunction(
  scope: Construct,
  id: string,
  { settings: { logRetentionDays } }: Stage,
  { grants, unlimited, logPolicy = RemovalPolicy.DESTROY, ...props }: FunctionProps,
): NodejsFunction {
  const logGroup = new LogGroup(scope, `${id}Logs`, {
    logGroupName: `/aws/lambda/${props.functionName}`,
    retention: logRetentionDays,
    removalPolicy: logPolicy,
  });
  const role = new Role(scope, `${id}Role`, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  logGroup.grantWrite(role);
  for (const [actions, resources, conditions = {}] of grants) {
    role.addToPolicy(
      new PolicyStatement({ actions: [...actions], resources: [...resources], conditions }),
    );
  }
  if (unlimited) {
    Validations.of(role).acknowledge({ id: 'AwsSolutions-IAM5[Resource::*]', reason: unlimited });
  }
  return new NodejsFunction(scope, id, {
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    bundling: toolBundling,
    projectRoot,
    depsLockFilePath: join(projectRoot, 'package-lock.json'),
    memorySize: 256,
    loggingFormat: LoggingFormat.JSON,
    ...props,
    role,
    logGroup,
  });
}
