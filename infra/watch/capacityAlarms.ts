import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { toFunctionMetric } from '../service/serviceMetrics.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import { toUsedTableName } from '../stages/resourceNames.ts';
import { operationSettings, type Stage, stagesFile } from '../stages/stages.ts';
import { tableNames } from '../stages/tables.ts';
import type { WatchAlarm } from './alarms.ts';
import {
  period,
  toTableSystemErrors,
  toTableThrottles,
  toTransactionConflicts,
} from './metrics.ts';

/** What will break next, or has begun to. */
export function defineCapacityAlarms(stage: Stage): WatchAlarm[] {
  const { accountConcurrency } = stage.settings;
  return [
    ...operationIds.flatMap((id) => defineFunctionAlarms(stage, id)),
    ...(accountConcurrency === undefined
      ? []
      : [defineAccountConcurrencyAlarm(accountConcurrency)]),
    ...tableNames.flatMap((table): WatchAlarm[] => {
      const tableName = toUsedTableName(stage, table);
      return [
        {
          name: `${table}-table-throttles`,
          severity: 'ticket',
          description: `DynamoDB refuses calls to the table ${tableName} for their rate; clients get 503. Look at the dashboard for the units consumed: at the table's maximumUnitsPerSecond in ${stagesFile}, slow down the import or raise that; below it, an on-demand table grows to twice its last peak within half an hour, so wait, or lower the throttles; if it stays, one key is read or written too often.`,
          metric: toTableThrottles(stage, table),
          threshold: 1,
          periods: 2,
          of: 3,
        },
        {
          name: `${table}-table-system-errors`,
          severity: 'ticket',
          description: `DynamoDB itself fails calls to the table ${tableName}; clients get 503 where three attempts did not help. Look at the AWS Health Dashboard; there is nothing to change here.`,
          metric: toTableSystemErrors(stage, table),
          threshold: 5,
          periods: 2,
          of: 3,
        },
      ];
    }),
    {
      name: 'transaction-conflicts',
      severity: 'ticket',
      description: `Updates of the same inventory entry meet so often that DynamoDB refused ${MAX_CONFLICTS} of them in five minutes, three times in a row. Each is sent again up to four times; then clients get 503. Look at the saved query "Cost in request units by key" for who sends so many updates, and ask them to wait longer between two attempts.`,
      metric: toTransactionConflicts(stage),
      threshold: MAX_CONFLICTS,
      periods: 3,
      of: 3,
    },
  ];
}

/** Conflicts in five minutes: one a second, which clients hardly notice. */
const MAX_CONFLICTS = 300;

/** Calls refused in five minutes: fewer pass with the burst that they came in, and clients' second attempts succeed. */
const MAX_THROTTLES = 5;

function defineFunctionAlarms(stage: Stage, id: OperationId): WatchAlarm[] {
  const { timeoutSeconds } = operationSettings[id];
  const toMetric = (name: Parameters<typeof toFunctionMetric>[2], statistic: string) =>
    toFunctionMetric(stage, id, name, { statistic, period });
  const reserved = toReservedConcurrency(stage.settings, id) ?? 0;
  return [
    {
      name: `${id}-errors`,
      severity: 'ticket',
      description: `The function of ${id} crashed, ran out of memory or out of time, which it should never do. Look at the saved query "Errors with their cause"; if it began with a deployment, roll back.`,
      metric: toMetric('Errors', Stats.SUM),
      threshold: 1,
    },
    // Of the others, the latency looks at the whole time.
    ...(operations[id].streamed
      ? [
          {
            name: `${id}-duration`,
            severity: 'ticket' as const,
            description: `A call of ${id} took over four fifths of its ${timeoutSeconds} seconds. Look at the saved query "Slowest requests": DynamoDB may be slow, or the answer has grown; raise the function's memory in ${stagesFile} if its CPU is what lacks.`,
            metric: toMetric('Duration', Stats.MAXIMUM),
            threshold: timeoutSeconds * 800,
            periods: 2,
            of: 3,
          },
        ]
      : []),
    {
      name: `${id}-throttles`,
      severity: 'ticket',
      description: `Lambda refused ${MAX_THROTTLES} calls of ${id} in five minutes, since too many run at once; clients get 5xx, and where they are many, a page is sent by that. Look at the dashboard for the concurrency, and raise the function's reservedConcurrency in ${stagesFile} or the account's quota.`,
      metric: toMetric('Throttles', Stats.SUM),
      threshold: MAX_THROTTLES,
    },
    ...(reserved > 0
      ? [
          {
            name: `${id}-concurrency`,
            severity: 'ticket' as const,
            description: `At least four fifths of the ${reserved} calls of ${id} that may run at once are running. Look at the dashboard for traffic and latency, and raise its reservedConcurrency in ${stagesFile} before calls are refused.`,
            metric: toMetric('ConcurrentExecutions', Stats.MAXIMUM),
            threshold: reserved * 0.8,
          },
        ]
      : []),
  ];
}

function defineAccountConcurrencyAlarm(accountConcurrency: number): WatchAlarm {
  return {
    name: 'account-concurrency',
    severity: 'ticket',
    description: `At least four fifths of the ${accountConcurrency} calls that may run at once in the account are running, other services' included. Look in the Lambda console for whose they are, and ask AWS for a higher quota before calls are refused.`,
    metric: new Metric({
      namespace: 'AWS/Lambda',
      metricName: 'ConcurrentExecutions',
      statistic: Stats.MAXIMUM,
      period,
    }),
    threshold: accountConcurrency * 0.8,
  };
}
