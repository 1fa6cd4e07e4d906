import { Duration } from 'aws-cdk-lib';
import { MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { toFunctionMetric } from '../metrics/functionMetrics.ts';
import { toGatewayMetric } from '../metrics/gatewayMetrics.ts';
import { toLogMetric } from '../metrics/logMetrics.ts';
import { period } from '../metrics/period.ts';
import { toRequestShare } from '../metrics/requestShare.ts';
import { type Stage, stagesFile } from '../stages/stages.ts';
import type { RefusalMetrics } from './refusalMetrics.ts';
import type { WatchAlarm } from './watchAlarm.ts';

/** A single failure is no outage, so of one alone it is 0. */
function toFailingShare(stage: Stage): MathExpression {
  const sum = { statistic: Stats.SUM, period: Duration.minutes(15) };
  return new MathExpression({
    label: '5xx, % of requests',
    expression: 'IF(failed >= 2, 100 * failed / requests, 0)',
    usingMetrics: {
      failed: toGatewayMetric(stage, '5XXError', sum),
      requests: toGatewayMetric(stage, 'Count', sum),
    },
    period: sum.period,
  });
}

/** The percentage of an operation's calls that it answers by 5xx; of fewer than three, it is 0. */
function toOperationErrorShare(stage: Stage, id: OperationId): MathExpression {
  const sum = { statistic: Stats.SUM, period };
  return new MathExpression({
    label: '5xx, % of calls',
    expression: 'IF(FILL(failed, 0) >= 3, 100 * failed / calls, 0)',
    usingMetrics: {
      failed: toLogMetric(stage, id, 'serverErrors', sum),
      calls: toFunctionMetric(stage, id, 'Invocations', { ...sum }),
    },
    period,
  });
}

/** Of all operations, that of the slowest. */
function toSlowest(stage: Stage): MathExpression {
  const slowest = { statistic: Stats.p(99), period };
  const usingMetrics = Object.fromEntries(
    operationIds.map((id) => [
      id,
      operations[id].streamed
        ? toLogMetric(stage, id, 'firstByte', slowest)
        : toFunctionMetric(stage, id, 'Duration', slowest),
    ]),
  );
  return new MathExpression({
    label: 'the slowest hundredth, milliseconds',
    expression: `MAX([${operationIds.map((id) => `FILL(${id}, 0)`).join(', ')}])`,
    usingMetrics,
    period,
  });
}

/** What clients feel right now. */
export function defineClientAlarms(stage: Stage, { throttled }: RefusalMetrics): WatchAlarm[] {
  const serverErrors = toGatewayMetric(stage, '5XXError', { statistic: Stats.SUM, period });
  return [
    {
      name: 'server-errors',
      description:
        'At least 1 in 100 requests fails with a 5xx. Look at the saved query "Errors with their cause" for why, and at the dashboard for which function; if it began with a deployment, roll back.',
      metric: toRequestShare(stage, '5xx, % of requests', serverErrors, 5),
      threshold: 1,
      periods: 2,
      of: 3,
    },
    {
      name: 'failing',
      description:
        'At least 3 of 4 requests failed with a 5xx within a quarter of an hour, however few there were. Look at the saved query "Errors with their cause" for why; if it began with a deployment, roll back.',
      metric: toFailingShare(stage),
      threshold: 75,
      periods: 1,
      of: 1,
    },
    ...operationIds.map((id) => ({
      name: `${id}-server-errors`,
      description: `At least 1 in 20 calls of ${id} is answered 5xx, whatever its share of the traffic. Look at the saved query "Errors with their cause" for why; if it began with a deployment, roll back.`,
      metric: toOperationErrorShare(stage, id),
      threshold: 5,
      periods: 2,
      of: 3,
    })),
    {
      name: 'latency',
      description:
        'The slowest hundredth of the calls of an operation takes 5 seconds or more, or of those of a list until its first byte: a long list is not slow. Look at the saved query "Slowest requests" for which operation, and at the X-Ray traces for where the time goes.',
      metric: toSlowest(stage),
      threshold: 5_000,
      periods: 3,
      of: 3,
    },
    {
      name: 'throttled-requests',
      description: `At least 1 in 20 requests gets 429. Look at the saved query "Refusals by address" for who sends them: stop a client that runs away, or raise the throttle of the operation in ${stagesFile}.`,
      metric: toRequestShare(stage, '429, % of requests', throttled, 20),
      threshold: 5,
      periods: 2,
      of: 3,
    },
  ];
}
