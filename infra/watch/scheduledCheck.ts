import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  toCheckKeyParameter,
  toCheckName,
  toStackName,
  toUsedTableName,
} from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Calls the stage at its base address, as a client does, every few minutes, with a read key of its own from
 * an encrypted parameter. A function of ours and not a canary of CloudWatch Synthetics, which costs $0.0012
 * a run, $10 a month at every five minutes (https://aws.amazon.com/cloudwatch/pricing/).
 */
export function defineScheduledCheck(scope: Construct, stage: Stage, everyMinutes: number): void {
  const { baseAddress, logRetentionDays } = stage.settings;
  const logGroup = new LogGroup(scope, 'CheckLogs', {
    logGroupName: `/aws/lambda/${toCheckName(stage)}`,
    retention: logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const check = new NodejsFunction(scope, 'Check', {
    functionName: toCheckName(stage),
    description: `Calls ${baseAddress} from outside`,
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    entry: join(import.meta.dirname, 'check/handler.ts'),
    bundling: {
      forceDockerBundling: false,
      format: OutputFormat.CJS,
      target: 'node24',
      minify: true,
      bundleAwsSDK: true,
    },
    projectRoot: root,
    depsLockFilePath: join(root, 'package-lock.json'),
    memorySize: 256,
    timeout: Duration.seconds(30),
    // It tries again by itself, a few minutes later.
    retryAttempts: 0,
    environment: {
      BASE_ADDRESS: baseAddress,
      KEY_PARAMETER: toCheckKeyParameter(stage),
      API_KEYS_TABLE: toUsedTableName(stage, 'apiKeys'),
      NAMESPACE: toStackName(stage),
    },
    awsSdkConnectionReuse: false,
    role: defineRole(scope, stage, logGroup),
    logGroup,
    // Lines that CloudWatch makes metrics of may not lie in another.
    loggingFormat: LoggingFormat.TEXT,
  });
  new Rule(scope, 'CheckSchedule', {
    description: `Checks ${toStackName(stage)} from outside`,
    schedule: Schedule.rate(Duration.minutes(everyMinutes)),
    targets: [new LambdaFunction(check, { retryAttempts: 0 })],
  });
}

function defineRole(scope: Construct, stage: Stage, logGroup: LogGroup): Role {
  const role = new Role(scope, 'CheckRole', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  const stack = Stack.of(scope);
  const grants: [actions: string[], resource: string][] = [
    [['logs:CreateLogStream', 'logs:PutLogEvents'], logGroup.logGroupArn],
    [
      ['ssm:GetParameter'],
      stack.formatArn({
        service: 'ssm',
        resource: 'parameter',
        resourceName: toCheckKeyParameter(stage).slice(1),
      }),
    ],
    [
      ['dynamodb:Scan'],
      stack.formatArn({
        service: 'dynamodb',
        resource: 'table',
        resourceName: toUsedTableName(stage, 'apiKeys'),
      }),
    ],
  ];
  for (const [actions, resource] of grants) {
    role.addToPolicy(new PolicyStatement({ actions, resources: [resource] }));
  }
  return role;
}
