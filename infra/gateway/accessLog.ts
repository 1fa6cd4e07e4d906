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
import { accessLogText } from './accessLogFormat.ts';

/** Keeps the access log for as long as the functions' logs. */
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
    accessLogFormat: AccessLogFormat.custom(accessLogText),
  };
}
