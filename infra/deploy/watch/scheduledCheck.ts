import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { ComparisonOperator, Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { LoggingFormat } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { operationIds } from '../../../shared/contract/operations.ts';
import { readableTables } from '../../gateway/probes.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import { findTableName, toNames } from '../../stages/resourceNames.ts';
import type { Severity } from '../../stages/stageSettings.ts';
import { type Stage, stagesFile } from '../../stages/stages.ts';
import { type TableName, tables } from '../../stages/tables.ts';
import { defineFunction } from '../service/lambdaFunction.ts';
import type { WatchAlarm } from './alarms.ts';
import { type CheckMetrics, DAYS_AHEAD } from './check/checkMetrics.ts';

/**
 * Calls each operation of the stage at its base URL every few minutes, as a client does. It has its own read key,
 * from an encrypted parameter. A canary of CloudWatch Synthetics would cost $0.0012 a run, which is $10 a month at
 * every five minutes (https://aws.amazon.com/cloudwatch/pricing/).
 */
export function defineScheduledCheck(scope: Construct, stage: Stage, everyMinutes: number): void {
  // An operation that was turned off responds with 500 or 503.
  const asked = operationIds.filter((id) => findReservedConcurrency(stage.settings, id) !== 0);
  const buildArn = (service: string, resource: string, resourceName: string) =>
    Stack.of(scope).formatArn({ service, resource, resourceName });
  const tableArn = (name: TableName) => buildArn('dynamodb', 'table', findTableName(stage, name));
  const { stack, toFunction, checkKeyParameter, baseAddressParameter } = toNames(stage);
  const read = ['apiKeys', ...readableTables] as const;
  const parameters = [checkKeyParameter, baseAddressParameter];
  const check = defineFunction(scope, 'Check', stage, {
    functionName: toFunction('check'),
    description: `Calls ${stack} from outside`,
    entry: join(import.meta.dirname, 'check/handler.ts'),
    timeout: Duration.seconds(30),
    // The next run, a few minutes later, is the retry.
    retryAttempts: 0,
    environment: {
      KEY_PARAMETER: checkKeyParameter,
      ADDRESS_PARAMETER: baseAddressParameter,
      OPERATIONS: asked.join(','),
      ...Object.fromEntries(
        read.map((name) => [tables[name].variable, findTableName(stage, name)]),
      ),
      NAMESPACE: stack,
    },
    grants: [
      // Permission to read an encrypted parameter includes the use of AWS's key for it.
      [
        ['ssm:GetParameters'],
        parameters.map((name) => buildArn('ssm', 'parameter', name.slice(1))),
      ],
      [['dynamodb:Scan'], read.map(tableArn)],
      [['dynamodb:DescribeTable'], readableTables.map(tableArn)],
    ],
    // Embedded metrics must not be wrapped in JSON.
    loggingFormat: LoggingFormat.TEXT,
  });
  new Rule(scope, 'CheckSchedule', {
    description: `Checks ${stack} from outside`,
    schedule: Schedule.rate(Duration.minutes(everyMinutes)),
    targets: [new LambdaFunction(check, { retryAttempts: 0 })],
  });
}

/** Alarms for a service that cannot be reached, and for a certificate or key that expires soon. */
export function defineCheckAlarms(stage: Stage, everyMinutes: number): WatchAlarm[] {
  const functionName = toNames(stage).toFunction('check');
  return [
    {
      name: 'check-failed',
      severity: 'outage',
      description: `The scheduled check called an operation at the base URL and got a wrong response or no response, twice, or it did not run. Look in the log of the function ${functionName} for the operation and the response. The cause may be the domain name, its certificate, the gateway, the check's own key or a table. If a list is empty or an item is missing although its table has it, roll back. Restore a table that is empty and had items; if you emptied it on purpose, the alarm ends within six hours. If its key is missing or has expired, give it one, as the runbook says. For updates, the check only proves that the function can be reached, since its key cannot write.`,
      metric: new Metric({
        namespace: 'AWS/Lambda',
        metricName: 'Errors',
        dimensionsMap: { FunctionName: functionName },
        statistic: Stats.SUM,
        period: Duration.minutes(everyMinutes),
      }),
      threshold: 1,
      missing: 1,
      periods: [2, 2],
    },
    {
      name: 'check-throttled',
      description: `The scheduled check got 429 twice. It shares the throttles with clients, so they get it too. Look at the saved query "Requests by address" for the sender. Stop a runaway client, or raise the operation's throttle in ${stagesFile}.`,
      metric: buildCheckMetric(stage, 'checkThrottled', {
        statistic: Stats.SUM,
        period: Duration.minutes(everyMinutes),
      }),
      threshold: 1,
    },
    ...defineExpiryAlarms(
      stage,
      'certificate',
      { ticket: DAYS_AHEAD, page: 7 },
      'The certificate of the base URL',
      `Look at it in ACM. It renews by itself while its DNS record exists; otherwise import a new one and name it in ${stagesFile}.`,
    ),
    ...defineExpiryAlarms(
      stage,
      'key',
      { page: 7 },
      `An API key that was made for more than ${DAYS_AHEAD} days, and that has no successor,`,
      'Look at `npx petstore keys list` for which one. Rotate it, and give its owner the successor.',
    ),
  ];
}

function defineExpiryAlarms(
  stage: Stage,
  what: 'certificate' | 'key',
  daysBefore: Partial<Record<Severity, number>>,
  subject: string,
  act: string,
): WatchAlarm[] {
  return Object.entries(daysBefore).map(([severity, left]) => ({
    name: `${what}-expires-in-${left}-days`,
    severity: severity as Severity,
    description: `${subject} expires within ${left} days. ${act}`,
    metric: buildCheckMetric(stage, `${what}Days`, {
      statistic: Stats.MINIMUM,
      period: Duration.hours(1),
    }),
    comparisonOperator: ComparisonOperator.LESS_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: left,
    // It is reported from DAYS_AHEAD on.
    missing: DAYS_AHEAD + 1,
  }));
}

function buildCheckMetric(
  stage: Stage,
  metricName: keyof CheckMetrics,
  options: MetricOptions,
): Metric {
  return new Metric({ namespace: toNames(stage).stack, metricName, ...options });
}
