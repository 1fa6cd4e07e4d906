import { Duration, Validations } from 'aws-cdk-lib';
import {
  Alarm,
  type IAlarm,
  MathExpression,
  type Metric,
  type MetricOptions,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import { Alias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../shared/contract/operations.ts';
import type { NamedStage } from '../stages/resourceNames.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { operationSettings } from '../stages/stages.ts';
import type { OperationFunctions } from './operationFunctions.ts';
import { defineLogMetric, type LogMetricName, toLogMetric } from './serviceMetrics.ts';

/** How CodeDeploy moves the requests; without it, CloudFormation moves them at once. */
const deploymentConfigs: Record<StageSettings['rollout'], ILambdaDeploymentConfig | undefined> = {
  atOnce: undefined,
  canary10PercentFor5Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  linear10PercentEveryMinute: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
};

/** The function versions that clients are served by. */
export type LiveAliases = Record<OperationId, Alias>;

/**
 * An alias `live` per function, which the gateway calls. A deployment publishes a version and moves the
 * alias to it, at once or as `rollout` says.
 */
export function defineLiveAliases(
  scope: Construct,
  stage: NamedStage,
  functions: OperationFunctions,
  rollout: StageSettings['rollout'],
): LiveAliases {
  const aliases: LiveAliases = mapOperations(
    (id) =>
      new Alias(scope, `${id}Live`, {
        aliasName: 'live',
        version: functions[id].currentVersion as IVersion,
      }),
  );
  const deploymentConfig = deploymentConfigs[rollout];
  if (deploymentConfig) {
    for (const id of operationIds) {
      const { logGroup } = functions[id];
      const alarms = defineRollbackAlarms(scope, stage, id, aliases[id], logGroup);
      defineDeploymentGroup(scope, id, aliases[id], deploymentConfig, alarms);
    }
  }
  return aliases;
}

function defineDeploymentGroup(
  scope: Construct,
  id: OperationId,
  alias: Alias,
  deploymentConfig: ILambdaDeploymentConfig,
  alarms: IAlarm[],
): void {
  const group = new LambdaDeploymentGroup(scope, `${id}Deployment`, {
    alias,
    deploymentConfig,
    alarms,
    autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
  });
  Validations.of(group).acknowledge({
    id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
    reason:
      "CodeDeploy's own narrow policy: it moves aliases, reads alarms and calls functions named CodeDeployHook_, of which there are none.",
  });
}

// A deployment looks at its alarms only while it runs: they must notice within a minute.
const period = Duration.minutes(1);
const treatMissingData = TreatMissingData.NOT_BREACHING;

/** Five minutes long, so that 20 requests are soon together; the window slides on every minute. */
const sharePeriod = Duration.minutes(5);

/**
 * What sends one function back to the version before: its code crashed or timed out, fails, or became slow. They
 * look at the new version alone, whose tenth of the requests would hardly show among all. Lambda tells it apart
 * while the alias has two: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
function defineRollbackAlarms(
  scope: Construct,
  stage: NamedStage,
  id: OperationId,
  live: Alias,
  logGroup: ILogGroup,
): Alarm[] {
  const { latencyMilliseconds } = operationSettings[id];
  // A long list is not slow code.
  const { streamed } = operations[id];
  const { version } = live.version;
  const ofVersion = (metric: Metric) =>
    metric.with({ dimensionsMap: { ...metric.dimensions, ExecutedVersion: version } });
  const defineMetric = (name: LogMetricName, options: MetricOptions) => {
    defineLogMetric(scope, stage, id, name, logGroup, true);
    return toLogMetric(stage, id, name, options, version);
  };
  const sum = { period: sharePeriod, statistic: Stats.SUM };
  const slowest = { period, statistic: Stats.p(99) };
  return [
    new Alarm(scope, `${id}RollbackErrors`, {
      alarmDescription: `${id}'s newest version crashed or ran out of time. During a deployment this takes the new code back; look into the function's log, level ERROR.`,
      metric: ofVersion(live.metricErrors({ period, statistic: Stats.SUM })),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData,
    }),
    new Alarm(scope, `${id}RollbackServerErrors`, {
      alarmDescription: `At least 1 in 20 calls of ${id}'s newest version, of at least 20, or 3 of fewer, was answered 5xx. During a deployment this takes the new code back; look for "Errors with their cause" in Logs Insights.`,
      metric: new MathExpression({
        label: '5xx, % of the calls',
        expression:
          'IF(FILL(calls, 0) >= 20 || FILL(failed, 0) >= 3, 100 * FILL(failed, 0) / calls, 0)',
        usingMetrics: {
          failed: defineMetric('serverErrors', sum),
          calls: ofVersion(live.metricInvocations(sum)),
        },
        period: sharePeriod,
      }),
      threshold: 5,
      evaluationPeriods: 1,
      treatMissingData,
    }),
    new Alarm(scope, `${id}RollbackLatency`, {
      alarmDescription: `The slowest hundredth of the calls of ${id}'s newest version takes ${latencyMilliseconds} ms or more${streamed ? ' until the first byte' : ''}. During a deployment this takes the new code back; look for "Slowest requests" in Logs Insights.`,
      metric: streamed
        ? defineMetric('firstByte', slowest)
        : ofVersion(live.metricDuration(slowest)),
      threshold: latencyMilliseconds,
      // A single slow call among few is chance.
      evaluationPeriods: 2,
      treatMissingData,
    }),
  ];
}
