import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { toFunctionMetric } from '../service/serviceMetrics.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import { toUsedTableName } from '../stages/resourceNames.ts';
import { operationSettings, type Stage, stagesFile } from '../stages/stages.ts';
import { tableNames } from '../stages/tables.ts';
import type { WatchAlarm, WatchAlarms } from './alarms.ts';
import { toTableMetric, toTableThrottles } from './metrics.ts';

/** Alarms for what will break next, or has begun to. */
export function defineCapacityAlarms(stage: Stage): WatchAlarms {
  const { accountConcurrency } = stage.settings;
  return [
    ...operationIds.flatMap((id) => defineFunctionAlarms(stage, id)),
    accountConcurrency === undefined
      ? undefined
      : {
          name: 'account-concurrency',
          description: `At least four fifths of the ${accountConcurrency} calls that may run at once in the account are running, those of other services included. Look in the Lambda console for the functions that run. Ask AWS for a higher quota before calls are refused.`,
          metric: LambdaFunction.metricAllConcurrentExecutions(),
          threshold: accountConcurrency * 0.8,
        },
    ...tableNames.map(
      (table): WatchAlarm => ({
        name: `${table}-table-throttles`,
        description: `DynamoDB refuses calls to the table ${toUsedTableName(stage, table)} because of their rate; clients get 503. Look at the dashboard for the units consumed. At the table's maximumUnitsPerSecond in ${stagesFile}, slow down the import or raise that value. Below it, wait or lower the throttles: an on-demand table grows to twice its last peak within half an hour. If the alarm stays, one key is read or written too often.`,
        metric: toTableThrottles(stage, table),
        threshold: 1,
        periods: [2, 3],
      }),
    ),
    {
      name: 'transaction-conflicts',
      description: `Updates of the same inventory entry collide: DynamoDB refused ${MAX_CONFLICTS} of them in five minutes, three times in a row. Each is retried up to four times; then clients get 503. Look at the saved query "Cost in request units by key" for the client that sends so many updates. Ask its owner to wait longer between attempts.`,
      metric: toTableMetric(stage, 'inventory', 'TransactionConflict'),
      threshold: MAX_CONFLICTS,
      periods: [3, 3],
    },
  ];
}

/** Conflicts in five minutes: one a second, which clients hardly notice. */
const MAX_CONFLICTS = 300;

/** Refused calls in five minutes. Fewer come from a burst, and the clients' second attempts succeed. */
const MAX_THROTTLES = 5;

function defineFunctionAlarms(stage: Stage, id: OperationId): WatchAlarms {
  const { timeoutSeconds } = operationSettings[id];
  const toMetric = (name: Parameters<typeof toFunctionMetric>[2], statistic: string) =>
    toFunctionMetric(stage, id, name, { statistic });
  const reserved = toReservedConcurrency(stage.settings, id) ?? 0;
  return [
    {
      name: `${id}-errors`,
      description: `The function of ${id} crashed, ran out of memory or timed out, which should never happen. Look at the saved query "Errors with their cause". If it began with a deployment, roll back.`,
      metric: toMetric('Errors', Stats.SUM),
      threshold: 1,
    },
    // For the other operations, the latency alarm covers the whole duration.
    operations[id].streamed
      ? {
          name: `${id}-duration`,
          description: `A call of ${id} took over four fifths of its ${timeoutSeconds} seconds. Look at the saved query "Slowest requests": DynamoDB may be slow, or the response has grown. If the function lacks CPU, raise its memory in ${stagesFile}.`,
          metric: toMetric('Duration', Stats.MAXIMUM),
          threshold: timeoutSeconds * 800,
          periods: [2, 3],
        }
      : undefined,
    {
      name: `${id}-throttles`,
      description: `Lambda refused ${MAX_THROTTLES} calls of ${id} in five minutes, because too many run at once; clients get 5xx. If there are many, an alarm on 5xx sends a page. Look at the dashboard for the concurrency. Raise the function's reservedConcurrency in ${stagesFile}, or the account's quota.`,
      metric: toMetric('Throttles', Stats.SUM),
      threshold: MAX_THROTTLES,
    },
    reserved > 0
      ? {
          name: `${id}-concurrency`,
          description: `At least four fifths of the ${reserved} calls that may run at once for ${id} are running. Look at the dashboard for traffic and latency. Raise its reservedConcurrency in ${stagesFile} before calls are refused.`,
          metric: toMetric('ConcurrentExecutions', Stats.MAXIMUM),
          threshold: reserved * 0.8,
        }
      : undefined,
  ];
}
