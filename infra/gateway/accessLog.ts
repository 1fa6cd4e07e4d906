import {
  AccessLogFormat,
  LogGroupLogDestination,
  type StageOptions,
} from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { toKeptPolicy } from '../service/keptPolicy.ts';
import { toAccessLogName } from '../stages/resourceNames.ts';
import type { Stage } from '../stages/stages.ts';

/**
 * One line of JSON per request, those included that never reach a function. `requestId` is the
 * response's X-Request-Id. No header is logged, so no API key is.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const format = {
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  sourceIp: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  route: '$context.resourcePath',
  status: '$context.status',
  bytes: '$context.responseLength',
  latency: '$context.responseLatency',
  functionLatency: '$context.integration.latency',
  functionStatus: '$context.integration.integrationStatus',
  functionError: '$context.integration.error',
  // Lambda's id of the call, by which it logs what a function could not: a crash, a timeout.
  functionRequestId: '$context.integration.requestId',
  gatewayError: '$context.error.responseType',
  traceId: '$context.xrayTraceId',
};

export function defineAccessLog(
  scope: Construct,
  stage: Stage,
): Pick<StageOptions, 'accessLogDestination' | 'accessLogFormat'> {
  const { logRetentionDays } = stage.settings;
  const logGroup = new LogGroup(scope, 'AccessLogs', {
    logGroupName: toAccessLogName(stage),
    retention: logRetentionDays,
    removalPolicy: toKeptPolicy(stage.settings),
  });
  return {
    accessLogDestination: new LogGroupLogDestination(logGroup),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify(format)),
  };
}
