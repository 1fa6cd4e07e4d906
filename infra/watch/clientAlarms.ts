import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { toGatewayMetric } from '../service/serviceMetrics.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import type { NamedStage } from '../stages/resourceNames.ts';
import type { Severity } from '../stages/stageSettings.ts';
import { operationSettings, type Stage, stagesFile } from '../stages/stages.ts';
import type { WatchAlarm } from './alarms.ts';
import {
  type AccessLogMetrics,
  period,
  type RequestMetrics,
  toAllRequests,
  toLatencyMetric,
  toShare,
} from './metrics.ts';

/** Alarms for what affects clients now. */
export function defineClientAlarms(
  stage: Stage,
  { refusals, operations: counts }: AccessLogMetrics,
): WatchAlarm[] {
  const { quietMinutes } = stage.settings;
  const serverErrors = toGatewayMetric(stage, '5XXError', { statistic: Stats.SUM, period });
  return [
    {
      name: 'server-errors',
      severity: 'page',
      description:
        'At least 1 in 100 requests fails with a 5xx. Look at the saved query "Errors with their cause" for the reason, and at the dashboard for the function. If it began with a deployment, roll back.',
      metric: toShare('5xx, % of requests', serverErrors, toAllRequests(stage), 5),
      threshold: 1,
      periods: [2, 3],
    },
    ...operationIds.flatMap((id) => defineFailureAlarms(stage, id, counts[id])),
    ...operationIds.map((id) => defineLatencyAlarm(stage, id)),
    ...(quietMinutes === undefined ? [] : [defineSilenceAlarm(counts, quietMinutes)]),
    {
      name: 'throttled-requests',
      description: `At least 1 in 20 requests gets 429. Look at the saved query "Refusals by address" for the sender. Stop a runaway client, or raise the operation's throttle in ${stagesFile}.`,
      metric: toShare('429, % of requests', refusals.throttled, toAllRequests(stage), 20),
      threshold: 5,
      periods: [2, 3],
    },
  ];
}

/**
 * Alarms for one operation, busy or rarely called. Crashes, timeouts and calls that Lambda refused count as failures,
 * like the handler's own 5xx.
 */
function defineFailureAlarms(
  stage: Stage,
  id: OperationId,
  { requests, failures }: RequestMetrics,
): WatchAlarm[] {
  // Nobody needs to be woken for an operation that was turned off on purpose.
  const severity: Severity = toReservedConcurrency(stage.settings, id) === 0 ? 'ticket' : 'page';
  const toFailureShare = (sharePeriod: Duration) =>
    toShare('5xx, % of requests', failures, requests, MIN_FAILURES, sharePeriod);
  const act =
    'Look at the saved query "Errors with their cause" for the reason. If it began with a deployment, roll back.';
  return [
    {
      name: `${id}-server-errors`,
      severity,
      description: `At least 1 in 20 requests for ${id} gets a 5xx, however small its share of the traffic. ${act}`,
      metric: toFailureShare(period),
      threshold: 5,
      periods: [2, 3],
    },
    ...[1, 4].map(
      (hours): WatchAlarm => ({
        name: `${id}-failing-${hours}h`,
        severity,
        description: `At least ${MIN_FAILURES} requests for ${id}, and at least half of all, got a 5xx within ${hours} h. ${act}`,
        metric: toFailureShare(Duration.hours(hours)),
        threshold: 50,
      }),
    ),
  ];
}

/** Fewer are chance. */
const MIN_FAILURES = 3;

/** Alarms for someone who tries keys, for a key used beyond its permission, and for a client that missed a rotation. */
export function defineAbuseAlarms(
  stage: NamedStage,
  { refusals: { unauthorized, forbidden } }: AccessLogMetrics,
): WatchAlarm[] {
  return [
    {
      name: 'unauthorized-requests',
      description:
        'At least 1 in 5 requests gets 401. Look at the saved query "Refused credentials by reason". One key id that expired or was revoked means a client that has not noticed. Many malformed ones from few addresses ("Refusals by address") mean that someone tries keys.',
      metric: toShare('401, % of requests', unauthorized, toAllRequests(stage), 50),
      threshold: 20,
      periods: [2, 3],
    },
    {
      name: 'forbidden-requests',
      description:
        'At least 1 in 10 requests gets 403. Look at the saved query "Cost in request units by key" for the key. A read key is used to write: its owner needs another key, or the key has leaked and must be revoked. If the firewall is on, it may refuse the requests.',
      metric: toShare('403, % of requests', forbidden, toAllRequests(stage), 50),
      threshold: 10,
      periods: [2, 3],
    },
  ];
}

function defineLatencyAlarm(stage: NamedStage, id: OperationId): WatchAlarm {
  const { latencyMilliseconds } = operationSettings[id];
  const until = operations[id].streamed ? ' until the first byte' : '';
  return {
    name: `${id}-latency`,
    severity: 'page',
    description: `A call of ${id} takes ${latencyMilliseconds} ms or more${until} at the 99th percentile. Look at the saved query "Slowest requests", and at the X-Ray traces for where the time goes. If it began with a deployment, roll back.`,
    metric: toLatencyMetric(stage, id, { statistic: Stats.p(99), period }),
    threshold: latencyMilliseconds,
    periods: [3, 3],
  };
}

/** If a stage always has traffic, silence means that nothing reaches the gateway. */
function defineSilenceAlarm(
  counts: AccessLogMetrics['operations'],
  quietMinutes: number,
): WatchAlarm {
  const usingMetrics = Object.fromEntries(operationIds.map((id) => [id, counts[id].requests]));
  return {
    name: 'silence',
    severity: 'page',
    description: `No client's request has arrived for ${quietMinutes} minutes. Look at the domain name's DNS record, its certificate and the AWS Health Dashboard, and call the service from outside. If it is night in the shop and nothing is wrong, raise quietMinutes in ${stagesFile}.`,
    metric: new MathExpression({
      label: 'requests',
      expression: operationIds.map((id) => `FILL(${id}, 0)`).join(' + '),
      usingMetrics,
      period: Duration.minutes(quietMinutes),
    }),
    threshold: 1,
    comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
  };
}
