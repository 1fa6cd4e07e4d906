import { Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { type OperationId, operationIds, operations } from '../../../shared/contract/operations.ts';
import { MAX_ATTEMPTS } from '../../../shared/store/conflicts.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import { operationSettings, type Stage, stagesFile } from '../../stages/stages.ts';
import { tableNames } from '../../stages/tables.ts';
import type { AlarmPart } from '../service/serviceMetrics.ts';
import { defineSharedAlarms, type WatchAlarm } from './alarms.ts';
import { buildFunctionMetric, buildTableMetric, buildTableThrottles } from './metrics.ts';

/** Alarms for limits that are near, or reached. */
export function defineCapacityAlarms(stage: Stage): WatchAlarm[] {
  const { accountConcurrency } = stage.settings;
  return [
    ...defineFunctionAlarms(stage),
    ...(accountConcurrency === undefined
      ? []
      : [
          {
            name: 'account-concurrency',
            description: `At least four fifths of the ${accountConcurrency} calls that may run at once in the account are running, those of other services included. Look in the Lambda console for the functions that run. Ask AWS for a higher quota before calls are refused.`,
            metric: LambdaFunction.metricAllConcurrentExecutions(),
            threshold: accountConcurrency * 0.8,
          },
        ]),
    ...defineSharedAlarms(
      {
        name: 'table-throttles',
        label: 'throttled calls',
        description: `DynamoDB refuses calls to a table because of their rate; clients get 503. Look at \`npx petstore status\` for which one, and at the dashboard for the units consumed. At the table's maximumUnitsPerSecond in ${stagesFile}, slow down the import or raise that value. Below it, wait or lower the throttles: an on-demand table grows to twice its last peak within half an hour. If the alarm stays, one key is read or written too often.`,
        threshold: 1,
        periods: [2, 3],
      },
      tableNames.map((table) => buildTableThrottles(stage, table)),
    ),
    {
      name: 'transaction-conflicts',
      description: `Adjustments or updates of the same inventory entry collide: DynamoDB refused ${MAX_CONFLICTS} of them in five minutes, three times in a row. Each is tried up to ${MAX_ATTEMPTS} times; then clients get 503. Look at the saved query "Cost in request units by key": many keys there are many buyers of one pet, so wait; ask the owner of a single key to wait longer between attempts.`,
      metric: buildTableMetric(stage, 'inventory', 'TransactionConflict'),
      threshold: MAX_CONFLICTS,
      periods: [3, 3],
    },
  ];
}

/** Conflicts in five minutes: one a second, which clients hardly notice. */
const MAX_CONFLICTS = 300;

/** Refused calls in five minutes. Fewer come from a burst, and the clients' second attempts succeed. */
const MAX_THROTTLES = 5;

function defineFunctionAlarms(stage: Stage): WatchAlarm[] {
  const buildPart = (
    id: OperationId,
    name: Parameters<typeof buildFunctionMetric>[2],
    statistic: string,
    limit?: number,
  ): AlarmPart => ({
    value: limit === undefined ? `FILL(${id}, 0)` : `100 * FILL(${id}, 0) / ${limit}`,
    usingMetrics: { [id]: buildFunctionMetric(stage, id, name, { statistic }) },
  });
  const reserved = operationIds.flatMap((id) => {
    const limit = findReservedConcurrency(stage.settings, id) ?? 0;
    return limit > 0 ? [buildPart(id, 'ConcurrentExecutions', Stats.MAXIMUM, limit)] : [];
  });
  return [
    ...defineSharedAlarms(
      {
        name: 'crashes',
        label: 'crashes of a function',
        description:
          'A function crashed, ran out of memory or timed out, which should never happen. Look at `npx petstore status` for which one, and at the saved query "Errors with their cause". If it began with a deployment, roll back.',
        threshold: 1,
      },
      operationIds.map((id) => buildPart(id, 'Errors', Stats.SUM)),
    ),
    // For the other operations, the alarm on latency covers the whole duration.
    ...defineSharedAlarms(
      {
        name: 'duration',
        label: '% of the time limit',
        description: `A streamed list took over four fifths of its time limit. Look at the saved query "Slowest requests": DynamoDB may be slow, or the response has grown. If the function lacks CPU, raise its memory in ${stagesFile}.`,
        threshold: 80,
        periods: [2, 3],
      },
      operationIds
        .filter((id) => operations[id].streamed)
        .map((id) =>
          buildPart(id, 'Duration', Stats.MAXIMUM, operationSettings[id].timeoutSeconds * 1_000),
        ),
    ),
    ...defineSharedAlarms(
      {
        name: 'lambda-throttles',
        label: 'refused calls of a function',
        description: `Lambda refused ${MAX_THROTTLES} calls of an operation in five minutes, because too many run at once; clients get 5xx. If there are many, an alarm on 5xx sends a page. Look at \`npx petstore status\` for which one. Raise the function's reservedConcurrency in ${stagesFile}, or the account's quota.`,
        threshold: MAX_THROTTLES,
      },
      operationIds.map((id) => buildPart(id, 'Throttles', Stats.SUM)),
    ),
    ...defineSharedAlarms(
      {
        name: 'reserved-concurrency',
        label: '% of the reserved concurrency',
        description: `At least four fifths of the calls that may run at once for an operation are running. Look at the dashboard for which one, for its traffic and its latency. Raise its reservedConcurrency in ${stagesFile} before calls are refused.`,
        threshold: 80,
      },
      reserved,
    ),
  ];
}
