import { join } from 'node:path';
import { type CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import { Alarm, type Metric, Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import {
  type ILambdaDeploymentConfig,
  LambdaDeploymentConfig,
  LambdaDeploymentGroup,
} from 'aws-cdk-lib/aws-codedeploy';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { Alias, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../shared/contract/operations.ts';
import { hookKeyIds } from '../../../shared/keys/apiKey.ts';
import { readableTables } from '../../gateway/probes.ts';
import { liveAlias, toNames } from '../../stages/resourceNames.ts';
import type { StageSettings } from '../../stages/stageSettings.ts';
import { operationSettings, type Stage } from '../../stages/stages.ts';
import { tables } from '../../stages/tables.ts';
import type { DataTables } from './dataTables.ts';
import { defineFunction } from './lambdaFunction.ts';
import type { OperationFunctions } from './operationFunctions.ts';
import {
  type AlarmPart,
  buildLargestMetric,
  clientErrorStatuses,
  defineLogMetric,
  groupAlarmParts,
  type LogMetricName,
} from './serviceMetrics.ts';

/**
 * How CodeDeploy moves requests to the new version. If undefined, CloudFormation moves them at once, and no version
 * is checked.
 */
const deploymentConfigs: Record<StageSettings['rollout'], ILambdaDeploymentConfig | undefined> = {
  atOnce: undefined,
  canary10PercentFor5Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  linear10PercentEveryMinute: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
};

export type LiveAliases = Record<OperationId, Alias>;

/**
 * Defines the live alias of each function. A deployment publishes a version and moves the alias to it, at once or as
 * `rollout` says. If not at once, it moves the alias only if the hook gets right responses from the version.
 */
export function defineLiveAliases(
  scope: Construct,
  stage: Stage,
  functions: OperationFunctions,
  dataTables: DataTables,
): LiveAliases {
  const aliases: LiveAliases = mapOperations(
    (id) =>
      new Alias(scope, `${id}Live`, {
        aliasName: liveAlias,
        version: functions[id].version as IVersion,
      }),
  );
  const deploymentConfig = deploymentConfigs[stage.settings.rollout];
  if (deploymentConfig) {
    const preHook = defineDeploymentHook(scope, stage, functions, dataTables);
    const rollbackAlarms = defineRollbackAlarms(scope, stage, aliases, functions);
    for (const id of operationIds) {
      const { [id]: alias } = aliases;
      const group = new LambdaDeploymentGroup(scope, `${id}Deployment`, {
        alias,
        deploymentConfig,
        preHook,
        alarms: [rollbackAlarms[id]],
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      });
      // CodeDeploy needs its permission to call the hook before the alias moves.
      // An update policy is no dependency: without this, a hook before its update could check the new version.
      alias.node.addDependency(group, preHook);
      acknowledgeVersions(group, preHook);
      Validations.of(group).acknowledge({
        id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]',
        reason:
          "CodeDeploy's own narrow policy: it moves aliases, reads alarms and calls functions named CodeDeployHook_. There are none.",
      });
    }
  }
  return aliases;
}

function defineDeploymentHook(
  scope: Construct,
  stage: Stage,
  functions: OperationFunctions,
  dataTables: DataTables,
): IFunction {
  const all = operationIds.map((id) => functions[id].fn.functionArn);
  const hook = defineFunction(scope, 'Hook', stage, {
    functionName: toNames(stage).toFunction('hook'),
    description: 'Calls each new version before its first client',
    entry: join(import.meta.dirname, '../hook/handler.ts'),
    timeout: Duration.minutes(5),
    environment: Object.fromEntries(
      (['apiKeys', ...readableTables] as const).map((name) => [
        tables[name].variable,
        dataTables[name].tableName,
      ]),
    ),
    grants: [
      // The versions of this deployment have no names yet. A streamed call needs no other permission.
      [['lambda:InvokeFunction'], all.map((arn) => `${arn}:*`)],
      [['lambda:GetFunctionConcurrency'], all],
      [['dynamodb:Scan'], readableTables.flatMap((name) => dataTables[name].tableArns)],
      [
        ['dynamodb:PutItem', 'dynamodb:DeleteItem'],
        dataTables.apiKeys.tableArns,
        {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [hookKeyIds] },
          // Without a value, ForAllValues would allow the call.
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      ],
      [['codedeploy:ListDeploymentTargets', 'codedeploy:GetDeploymentTarget'], ['*']],
    ],
    unlimited: "Only CodeDeploy's reads of a deployment's targets, which have no resource.",
  });
  for (const id of operationIds) acknowledgeVersions(hook.role as IRole, functions[id].fn);
  return hook;
}

/** Explains to cdk-nag why a role may call every version of a function. */
function acknowledgeVersions(role: IConstruct, { node: { defaultChild } }: IFunction): void {
  const logicalId = Stack.of(role).getLogicalId(defaultChild as CfnElement);
  Validations.of(role).acknowledge({
    id: `AwsSolutions-IAM5[Resource::<${logicalId}.Arn>:*]`,
    reason: 'Any version of this one function, since each deployment makes another.',
  });
}

/** All requests since a deployment began: no rollout takes longer. The window moves on every minute. */
const period = Duration.minutes(15);

/**
 * The alarms that roll back a function, by operation: its code crashes, times out, fails, refuses requests or becomes
 * slow. An alarm takes two functions, since CloudFormation rolls back the whole deployment in any case. They watch only
 * the new version, since its tenth of the requests would hardly show among all. While the alias has two versions, Lambda
 * counts each by itself: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
function defineRollbackAlarms(
  scope: Construct,
  stage: Stage,
  aliases: LiveAliases,
  functions: OperationFunctions,
): Record<OperationId, Alarm> {
  const parts = operationIds.map((id) => ({
    id,
    ...defineRollbackPart(scope, stage, id, aliases[id], functions[id].fn.logGroup),
  }));
  const groups = groupAlarmParts(parts).map((group, index) => {
    const ids = group.map(({ id }) => id);
    const alarm = new Alarm(scope, `Rollback${index + 1}`, {
      alarmDescription: `The newest version of ${ids.join(' or ')} fails. During a deployment this rolls it back. The value says why: 1 it crashed or timed out, 2 at least 1 in 20 calls got a 5xx (of 20 calls, or 3 failures), 3 half of 20 or more calls got ${clientErrorStatuses.join(', ')} or a 5xx, 4 at least 1 in 100 calls, and two, took longer than latencyMilliseconds. See "Errors with their cause", "Slowest requests" and, for 4xx, "Requests by status" in Logs Insights.`,
      metric: buildLargestMetric('1 crash, 2 5xx, 3 4xx, 4 slow', group, period),
      threshold: 1,
      evaluationPeriods: 1,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    return ids.map((id) => [id, alarm] as const);
  });
  return Object.fromEntries(groups.flat()) as Record<OperationId, Alarm>;
}

/** The first reason, in the alarm's numbers, why one function's newest version must not go on; or 0. */
function defineRollbackPart(
  scope: Construct,
  stage: Stage,
  id: OperationId,
  live: Alias,
  logGroup: ILogGroup,
): AlarmPart {
  const { version } = live.version;
  const ofVersion = (metric: Metric) =>
    metric.with({ dimensionsMap: { ...metric.dimensions, ExecutedVersion: version } });
  const defineMetric = (name: LogMetricName, statistic: string) =>
    defineLogMetric(scope, stage, id, name, logGroup, true).metric({
      statistic,
      dimensionsMap: { Version: version },
    });
  const inTime = Stats.percentileRank(operationSettings[id].latencyMilliseconds);
  const sum = { statistic: Stats.SUM };
  const usingMetrics = {
    [`${id}Crashed`]: ofVersion(live.metricErrors(sum)),
    [`${id}Calls`]: ofVersion(live.metricInvocations(sum)),
    [`${id}Failed`]: defineMetric('ServerErrors', Stats.SUM),
    [`${id}Refused`]: defineMetric('ClientErrors', Stats.SUM),
    // A long list does not mean slow code.
    [`${id}InTime`]: operations[id].streamed
      ? defineMetric('FirstByte', inTime)
      : ofVersion(live.metricDuration({ statistic: inTime })),
  };
  const [crashed, calls, failed, refused] = Object.keys(usingMetrics).map(
    (name) => `FILL(${name}, 0)`,
  );
  const slow = `(100 - FILL(${id}InTime, 100))`;
  const reasons = [
    `${crashed} >= 1`,
    `(${calls} >= 20 || ${failed} >= 3) && 20 * ${failed} >= ${calls}`,
    `${calls} >= 20 && 2 * (${refused} + ${failed}) >= ${calls}`,
    // A single slow call among few is chance. Ranks are not exact.
    `${slow} >= 1 && ${slow} * ${calls} >= 150`,
  ];
  const value = reasons.reduceRight(
    (otherwise, reason, index) => `IF(${reason}, ${index + 1}, ${otherwise})`,
    '0',
  );
  return { value, usingMetrics };
}
