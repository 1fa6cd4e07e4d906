import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type OperationId, operations } from '../../shared/contract/operations.ts';
import {
  type NamedStage,
  toBaseAddressParameter,
  toCheckKeyParameter,
  toCheckName,
  toStackName,
} from '../stages/resourceNames.ts';
import type { StageSettings } from '../stages/stageSettings.ts';
import { stagesFile } from '../stages/stages.ts';
import type { WatchAlarm } from './alarms.ts';
import { type CheckCounts, DAYS_AHEAD, type End, toDaysMetricName } from './check/checkMetrics.ts';
import { toDeprecatedOperations } from './logQueries.ts';
import type { AccessLogMetrics } from './metrics.ts';

/** What the scheduled check is told. */
export interface CheckSettings {
  readonly everyMinutes: number;
  /** Those that it calls. */
  readonly asked: readonly OperationId[];
  /** The table of the keys in use. */
  readonly keyTable: string;
  readonly inventoryTable: string;
  /** The length of the inventory that the stage is to bear. */
  readonly inventoryEntries: number;
  readonly logRetentionDays: StageSettings['logRetentionDays'];
}

const root = join(import.meta.dirname, '../..');

/**
 * Calls each operation of the stage at its base address, as a client does, every few minutes, with a read key of its
 * own from an encrypted parameter. A function of ours and not a canary of CloudWatch Synthetics, which costs $0.0012
 * a run, $10 a month at every five minutes (https://aws.amazon.com/cloudwatch/pricing/).
 */
export function defineScheduledCheck(
  scope: Construct,
  stage: NamedStage,
  settings: CheckSettings,
): void {
  const { everyMinutes, asked, keyTable, inventoryTable, logRetentionDays } = settings;
  const logGroup = new LogGroup(scope, 'CheckLogs', {
    logGroupName: `/aws/lambda/${toCheckName(stage)}`,
    retention: logRetentionDays,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const check = new NodejsFunction(scope, 'Check', {
    functionName: toCheckName(stage),
    description: `Calls ${toStackName(stage)} from outside`,
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
      KEY_PARAMETER: toCheckKeyParameter(stage),
      ADDRESS_PARAMETER: toBaseAddressParameter(stage),
      OPERATIONS: asked.join(','),
      API_KEYS_TABLE: keyTable,
      INVENTORY_TABLE: inventoryTable,
      INVENTORY_ENTRIES: String(settings.inventoryEntries),
      NAMESPACE: toStackName(stage),
    },
    role: defineRole(scope, stage, settings, logGroup),
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

/** What the scheduled check finds out: that the service cannot be reached, and what will end. */
export function defineCheckAlarms(
  stage: NamedStage,
  { everyMinutes, inventoryEntries }: CheckSettings,
  counts: AccessLogMetrics['operations'],
): WatchAlarm[] {
  const toCountMetric = (metricName: keyof CheckCounts) =>
    new Metric({
      namespace: toStackName(stage),
      metricName,
      statistic: Stats.SUM,
      period: Duration.minutes(everyMinutes),
    });
  return [
    {
      name: 'check-failed',
      severity: 'page',
      description: `The scheduled check called an operation at the base address and got a wrong answer or none, twice, or did not run. Look in the log of the function ${toCheckName(stage)} for which and for what came: the name, its certificate, the gateway, the check's own key or a table; if its key is missing or ended, give it one, as the runbook says. Of updates it proves the way to the function alone, since its key may only read.`,
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: { FunctionName: toCheckName(stage) },
        statistic: Stats.SUM,
        period: Duration.minutes(everyMinutes),
      }),
      threshold: 1,
      missing: TreatMissingData.BREACHING,
      periods: 2,
      of: 2,
    },
    {
      name: 'check-throttled',
      severity: 'ticket',
      description: `The scheduled check got 429 twice, so clients get it too: it shares their throttles. Look at the saved query "Refusals by address" for who sends so much: stop a client that runs away, or raise the throttle of the operation in ${stagesFile}.`,
      metric: toCountMetric('checkThrottled'),
      threshold: 1,
    },
    {
      name: 'inventory-entries',
      severity: 'ticket',
      description: `The inventory has more than the ${inventoryEntries} entries that the worst month is reckoned with: lists take longer, and an attack costs more. Look at \`npm run costs -- --worst-case --entries N\` for how much; raise inventoryEntries in ${stagesFile}, and worstMonthDollars to what \`npm run costs -- --check\` then asks for.`,
      metric: toCountMetric('surplusEntries'),
      threshold: 1,
    },
    ...defineEndAlarms(
      stage,
      'certificate',
      'The certificate of the base address',
      `Look at it in ACM: it renews by itself where its DNS record is still there; else import a new one and name it in ${stagesFile}.`,
    ),
    ...defineEndAlarms(
      stage,
      'key',
      `The first API key that nobody has replaced, of those made for more than ${DAYS_AHEAD} days,`,
      'Look at `npm run keys -- list` for which; rotate it, and tell its owner.',
    ),
    ...(toDeprecatedOperations().length > 0 ? [defineSunsetAlarm(counts)] : []),
  ];
}

function defineRole(
  scope: Construct,
  stage: NamedStage,
  { keyTable, inventoryTable }: CheckSettings,
  logGroup: LogGroup,
): Role {
  const role = new Role(scope, 'CheckRole', {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  const toArn = (service: string, resource: string, resourceName: string) =>
    Stack.of(scope).formatArn({ service, resource, resourceName });
  const parameters = [toCheckKeyParameter(stage), toBaseAddressParameter(stage)];
  const grants: [actions: string[], resources: string[]][] = [
    [['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]],
    // Whoever may read an encrypted parameter may use AWS's own key of it too.
    [['ssm:GetParameters'], parameters.map((name) => toArn('ssm', 'parameter', name.slice(1)))],
    [['dynamodb:Scan'], [toArn('dynamodb', 'table', keyTable)]],
    [['dynamodb:DescribeTable'], [toArn('dynamodb', 'table', inventoryTable)]],
  ];
  for (const [actions, resources] of grants) {
    role.addToPolicy(new PolicyStatement({ actions, resources }));
  }
  return role;
}

function defineEndAlarms(stage: NamedStage, end: End, what: string, act: string): WatchAlarm[] {
  const days = [
    ['ticket', DAYS_AHEAD],
    ['page', 7],
  ] as const;
  return days.map(([severity, left]) => ({
    name: `${end}-ends-in-${left}-days`,
    severity,
    description: `${what} ends within ${left} days. ${act}`,
    metric: toDaysMetric(stage, end),
    comparison: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: left,
  }));
}

function defineSunsetAlarm(counts: AccessLogMetrics['operations']): WatchAlarm {
  const ids = toDeprecatedOperations();
  const terms = ids.map((id) => {
    const { lifecycle } = operations[id];
    const sunset = lifecycle.kind === 'deprecated' ? lifecycle.sunset.getTime() / 1_000 : 0;
    return `IF(EPOCH(${id}) >= ${sunset - DAYS_AHEAD * 86_400}, ${id}, 0)`;
  });
  return {
    name: 'sunset-has-callers',
    severity: 'ticket',
    description: `A deprecated operation (${ids.join(', ')}) may go within ${DAYS_AHEAD} days, and is called still. Look at the saved query "Callers of deprecated operations", and write to them.`,
    metric: new MathExpression({
      label: 'requests',
      expression: terms.join(' + '),
      usingMetrics: Object.fromEntries(ids.map((id) => [id, counts[id].requests])),
      period: Duration.days(1),
    }),
    threshold: 1,
  };
}

function toDaysMetric(stage: NamedStage, end: End): Metric {
  return new Metric({
    namespace: toStackName(stage),
    metricName: toDaysMetricName(end),
    statistic: Stats.MINIMUM,
    period: Duration.hours(1),
  });
}
