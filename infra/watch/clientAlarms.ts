import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { toFunctionMetric, toGatewayMetric, toLogMetric } from '../service/serviceMetrics.ts';
import type { NamedStage } from '../stages/resourceNames.ts';
import { operationSettings, stagesFile } from '../stages/stages.ts';
import type { WatchAlarm } from './alarms.ts';
import { period, type RefusalMetrics, toLatencyMetric, toRequestShare } from './metrics.ts';

/** What clients feel right now. */
export function defineClientAlarms(
  stage: NamedStage,
  { throttled }: RefusalMetrics,
  quietMinutes: number | undefined,
): WatchAlarm[] {
  const toServerErrors = (minRequests: number, sharePeriod: Duration) => {
    const options = { statistic: Stats.SUM, period: sharePeriod };
    const failed = toGatewayMetric(stage, '5XXError', options);
    return toRequestShare(stage, '5xx, % of requests', failed, minRequests, sharePeriod);
  };
  return [
    {
      name: 'server-errors',
      severity: 'page',
      description:
        'At least 1 in 100 requests fails with a 5xx. Look at the saved query "Errors with their cause" for why, and at the dashboard for which function; if it began with a deployment, roll back.',
      metric: toServerErrors(5, period),
      threshold: 1,
      periods: 2,
      of: 3,
    },
    {
      name: 'failing',
      severity: 'page',
      description:
        'At least 3 of 4 requests failed with a 5xx within a quarter of an hour, however few there were. Look at the saved query "Errors with their cause" for why; if it began with a deployment, roll back.',
      // A single failure is no outage, so of one alone it is 0.
      metric: toServerErrors(2, Duration.minutes(15)),
      threshold: 75,
    },
    ...operationIds.map(
      (id): WatchAlarm => ({
        name: `${id}-server-errors`,
        severity: 'page',
        description: `At least 1 in 20 calls of ${id} is answered 5xx, whatever its share of the traffic. Look at the saved query "Errors with their cause" for why; if it began with a deployment, roll back.`,
        metric: toOperationErrorShare(stage, id),
        threshold: 5,
        periods: 2,
        of: 3,
      }),
    ),
    ...operationIds.map((id) => defineLatencyAlarm(stage, id)),
    ...(quietMinutes === undefined ? [] : [defineSilenceAlarm(stage, quietMinutes)]),
    {
      name: 'throttled-requests',
      severity: 'ticket',
      description: `At least 1 in 20 requests gets 429. Look at the saved query "Refusals by address" for who sends them: stop a client that runs away, or raise the throttle of the operation in ${stagesFile}.`,
      metric: toRequestShare(stage, '429, % of requests', throttled, 20),
      threshold: 5,
      periods: 2,
      of: 3,
    },
  ];
}

/** Someone tries keys, or uses one for what it does not allow; or a client has not noticed a rotation. */
export function defineAbuseAlarms(
  stage: NamedStage,
  { unauthorized, forbidden }: RefusalMetrics,
): WatchAlarm[] {
  return [
    {
      name: 'unauthorized-requests',
      severity: 'ticket',
      description:
        'At least 1 in 5 requests gets 401. Look at the saved query "Refused credentials by reason": one key id that expired or was revoked is a client that has not noticed; many malformed ones from few addresses ("Refusals by address") are someone trying keys.',
      metric: toRequestShare(stage, '401, % of requests', unauthorized, 50),
      threshold: 20,
      periods: 2,
      of: 3,
    },
    {
      name: 'forbidden-requests',
      severity: 'ticket',
      description:
        'At least 1 in 10 requests gets 403. Look at the saved query "Cost in request units by key" for the key: a read key is used to write, so its owner needs another or the key has leaked and must be revoked; where the firewall is on, it may be what refuses.',
      metric: toRequestShare(stage, '403, % of requests', forbidden, 50),
      threshold: 10,
      periods: 2,
      of: 3,
    },
  ];
}

/** The percentage of an operation's calls that it answers by 5xx; of fewer than three, it is 0. */
function toOperationErrorShare(stage: NamedStage, id: OperationId): MathExpression {
  const sum = { statistic: Stats.SUM, period };
  return new MathExpression({
    label: '5xx, % of calls',
    expression: 'IF(FILL(failed, 0) >= 3, 100 * failed / calls, 0)',
    usingMetrics: {
      failed: toLogMetric(stage, id, 'serverErrors', sum),
      calls: toFunctionMetric(stage, id, 'Invocations', sum),
    },
    period,
  });
}

function defineLatencyAlarm(stage: NamedStage, id: OperationId): WatchAlarm {
  const { latencyMilliseconds } = operationSettings[id];
  const until = operations[id].streamed ? ' until the first byte' : '';
  return {
    name: `${id}-latency`,
    severity: 'page',
    description: `The slowest hundredth of the calls of ${id} takes ${latencyMilliseconds} ms or more${until}. Look at the saved query "Slowest requests", and at the X-Ray traces for where the time goes; if it began with a deployment, roll back.`,
    metric: toLatencyMetric(stage, id, { statistic: Stats.p(99), period }),
    threshold: latencyMilliseconds,
    periods: 3,
    of: 3,
  };
}

/** Where there is always traffic, none means that nothing gets through to the gateway. */
function defineSilenceAlarm(stage: NamedStage, quietMinutes: number): WatchAlarm {
  return {
    name: 'silence',
    severity: 'page',
    description: `No request has come for ${quietMinutes} minutes. Look at the name's DNS record, its certificate and the AWS Health Dashboard, and call the service from outside; if it is night in the shop and nothing is wrong, raise quietMinutes in ${stagesFile}.`,
    metric: toGatewayMetric(stage, 'Count', {
      statistic: Stats.SUM,
      period: Duration.minutes(quietMinutes),
    }),
    threshold: 1,
    comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
    missing: TreatMissingData.BREACHING,
  };
}
