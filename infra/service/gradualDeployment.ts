import { join } from 'node:path';
import { type CfnElement, Duration, Stack, Validations } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
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
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { Alias, type IFunction, type IVersion } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct, IConstruct } from 'constructs';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../shared/contract/operations.ts';
import { hookKeyIds } from '../../shared/keys/apiKey.ts';
import { liveAlias, toNames } from '../stages/resourceNames.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';
import { tables } from '../stages/tables.ts';
import type { DataTables } from './dataTables.ts';
import { readTableNames } from './hook/probes.ts';
import { defineFunction } from './lambdaFunction.ts';
import type { OperationFunctions } from './operationFunctions.ts';
import {
  clientErrorStatuses,
  defineLogMetric,
  fillMissing,
  type LogMetricName,
  toLogMetric,
} from './serviceMetrics.ts';

/**
 * How CodeDeploy moves requests to the new version. If undefined, CloudFormation moves them at once, and no version
 * proves itself.
 */
const deploymentConfigs: Record<StageSettings['rollout'], ILambdaDeploymentConfig | undefined> = {
  atOnce: undefined,
  canary10PercentFor5Minutes: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
  linear10PercentEveryMinute: LambdaDeploymentConfig.LINEAR_10PERCENT_EVERY_1MINUTE,
};

/** The aliases of the function versions that serve clients. */
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
        version: functions[id].currentVersion as IVersion,
      }),
  );
  const deploymentConfig = deploymentConfigs[stage.settings.rollout];
  if (deploymentConfig) {
    const preHook = defineDeploymentHook(scope, stage, functions, dataTables);
    for (const id of operationIds) {
      const { [id]: alias } = aliases;
      const group = new LambdaDeploymentGroup(scope, `${id}Deployment`, {
        ...{ alias, deploymentConfig, preHook },
        alarms: defineRollbackAlarms(scope, stage, id, alias, functions[id].logGroup),
        autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
      });
      // CodeDeploy needs its permission to call the hook before the alias moves.
      alias.node.addDependency(group);
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

/** The function by which every new version proves itself before CodeDeploy sends it requests. */
function defineDeploymentHook(
  scope: Construct,
  stage: Stage,
  functions: OperationFunctions,
  dataTables: DataTables,
): IFunction {
  const all = operationIds.map((id) => functions[id].functionArn);
  const hook = defineFunction(scope, 'Hook', stage, {
    functionName: toNames(stage).toFunction('hook'),
    description: 'Calls each new version before its first client',
    entry: join(import.meta.dirname, 'hook/handler.ts'),
    timeout: Duration.minutes(5),
    environment: Object.fromEntries(
      (['apiKeys', ...readTableNames] as const).map((name) => [
        tables[name].variable,
        dataTables[name].tableName,
      ]),
    ),
    grants: [
      // The versions of this deployment have no names yet. A streamed call needs no other permission.
      [['lambda:InvokeFunction'], all.map((arn) => `${arn}:*`)],
      [['lambda:GetFunctionConcurrency'], all],
      [['dynamodb:Scan'], readTableNames.flatMap((name) => dataTables[name].tableArns)],
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
  for (const id of operationIds) acknowledgeVersions(hook.role as IRole, functions[id]);
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

// A deployment watches its alarms only while it runs, so they must fire within a minute.
const period = Duration.minutes(1);

/** Five minutes, so that 20 requests soon come together. The window moves on every minute. */
const sharePeriod = Duration.minutes(5);

/** As long as the alarm on such 4xx of all requests looks back. */
const clientErrorPeriod = Duration.minutes(15);

/**
 * The alarms that roll back one function: its code crashes, times out, fails, refuses requests or becomes slow. They
 * watch only the new version, since its tenth of the requests would hardly show among all. While the alias has two
 * versions, Lambda counts each by itself: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
function defineRollbackAlarms(
  scope: Construct,
  stage: Stage,
  id: OperationId,
  live: Alias,
  logGroup: ILogGroup,
): Alarm[] {
  const { latencyMilliseconds } = operationSettings[id];
  // A long list does not mean slow code.
  const { streamed } = operations[id];
  const { version } = live.version;
  const ofVersion = (metric: Metric) =>
    metric.with({ dimensionsMap: { ...metric.dimensions, ExecutedVersion: version } });
  const defineMetric = (name: LogMetricName, options: MetricOptions) => {
    defineLogMetric(scope, stage, id, name, logGroup, true);
    return toLogMetric(stage, id, name, options, version);
  };
  const sum = { period: sharePeriod, statistic: Stats.SUM };
  const longSum = { ...sum, period: clientErrorPeriod };
  const serverErrors = defineMetric('ServerErrors', sum);
  const slowest = { period, statistic: Stats.p(99) };
  const alarms: (Omit<AlarmProps, 'evaluationPeriods'> & {
    readonly kind: string;
    readonly evaluationPeriods?: number;
  })[] = [
    {
      kind: 'Errors',
      alarmDescription: `${id}'s newest version crashed or timed out. During a deployment this rolls it back. See the function's log, level ERROR.`,
      metric: fillMissing(ofVersion(live.metricErrors({ period, statistic: Stats.SUM }))),
      threshold: 1,
    },
    {
      kind: 'ServerErrors',
      alarmDescription: `At least 1 in 20 calls of ${id}'s newest version got a 5xx, with at least 20 calls or 3 failures. During a deployment this rolls it back. See "Errors with their cause" in Logs Insights.`,
      metric: new MathExpression({
        label: '5xx, % of the calls',
        expression:
          'IF(FILL(calls, 0) >= 20 || FILL(failed, 0) >= 3, 100 * FILL(failed, 0) / calls, 0)',
        usingMetrics: {
          failed: serverErrors,
          calls: ofVersion(live.metricInvocations(sum)),
        },
        period: sharePeriod,
      }),
      threshold: 5,
    },
    {
      kind: 'ClientErrors',
      alarmDescription: `At least half of 20 or more calls of ${id}'s newest version got ${clientErrorStatuses.join(', ')} or a 5xx within 15 minutes. During a deployment this rolls it back. See \`npx petstore logs --status 4xx\`.`,
      metric: new MathExpression({
        label: '4xx, % of the calls',
        expression:
          'IF(FILL(calls, 0) >= 20, 100 * (FILL(clientErrors, 0) + FILL(failed, 0)) / calls, 0)',
        usingMetrics: {
          clientErrors: defineMetric('ClientErrors', longSum),
          failed: serverErrors.with(longSum),
          calls: ofVersion(live.metricInvocations(longSum)),
        },
        period: clientErrorPeriod,
      }),
      threshold: 50,
    },
    {
      kind: 'Latency',
      alarmDescription: `${id}'s newest version takes ${latencyMilliseconds} ms or more${streamed ? ' until the first byte' : ''} at the 99th percentile. During a deployment this rolls it back. See "Slowest requests" in Logs Insights.`,
      metric: fillMissing(
        streamed ? defineMetric('FirstByte', slowest) : ofVersion(live.metricDuration(slowest)),
      ),
      threshold: latencyMilliseconds,
      // A single slow call among few is chance.
      evaluationPeriods: 2,
    },
  ];
  return alarms.map(
    ({ kind, ...props }) =>
      new Alarm(scope, `${id}Rollback${kind}`, {
        evaluationPeriods: 1,
        treatMissingData: TreatMissingData.NOT_BREACHING,
        ...props,
      }),
  );
}
