import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
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

/** What clients feel right now. */
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
        'At least 1 in 100 requests fails with a 5xx. Look at the saved query "Errors with their cause" for why, and at the dashboard for which function; if it began with a deployment, roll back.',
      metric: toShare('5xx, % of requests', serverErrors, toAllRequests(stage), 5),
      threshold: 1,
      periods: 2,
      of: 3,
    },
    ...operationIds.flatMap((id) => defineFailureAlarms(stage, id, counts[id])),
    ...operationIds.map((id) => defineLatencyAlarm(stage, id)),
    ...(quietMinutes === undefined ? [] : [defineSilenceAlarm(counts, quietMinutes)]),
    {
      name: 'throttled-requests',
      severity: 'ticket',
      description: `At least 1 in 20 requests gets 429. Look at the saved query "Refusals by address" for who sends them: stop a client that runs away, or raise the throttle of the operation in ${stagesFile}.`,
      metric: toShare('429, % of requests', refusals.throttled, toAllRequests(stage), 20),
      threshold: 5,
      periods: 2,
      of: 3,
    },
  ];
}

/**
 * What fails alone, busy or hardly called. Crashes, timeouts and calls that Lambda refused are failures as much as
 * the handler's own 5xx.
 */
function defineFailureAlarms(
  stage: Stage,
  id: OperationId,
  { requests, failures }: RequestMetrics,
): WatchAlarm[] {
  // Whoever turned the operation off knows.
  const severity: Severity = toReservedConcurrency(stage.settings, id) === 0 ? 'ticket' : 'page';
  const toFailureShare = (sharePeriod: Duration) =>
    toShare('5xx, % of requests', failures, requests, MIN_FAILURES, sharePeriod);
  const act =
    'Look at the saved query "Errors with their cause" for why; if it began with a deployment, roll back.';
  return [
    {
      name: `${id}-server-errors`,
      severity,
      description: `At least 1 in 20 requests for ${id} gets a 5xx, whatever its share of the traffic. ${act}`,
      metric: toFailureShare(period),
      threshold: 5,
      periods: 2,
      of: 3,
    },
    ...[1, 4].map(
      (hours): WatchAlarm => ({
        name: `${id}-failing-${hours}h`,
        severity,
        description: `At least ${MIN_FAILURES} requests for ${id}, and half of all, got a 5xx within ${hours} h, however few there were. ${act}`,
        metric: toFailureShare(Duration.hours(hours)),
        threshold: 50,
      }),
    ),
  ];
}

/** Fewer are chance. */
const MIN_FAILURES = 3;

/** Someone tries keys, or uses one for what it does not allow; or a client has not noticed a rotation. */
export function defineAbuseAlarms(
  stage: NamedStage,
  { refusals: { unauthorized, forbidden } }: AccessLogMetrics,
): WatchAlarm[] {
  return [
    {
      name: 'unauthorized-requests',
      severity: 'ticket',
      description:
        'At least 1 in 5 requests gets 401. Look at the saved query "Refused credentials by reason": one key id that expired or was revoked is a client that has not noticed; many malformed ones from few addresses ("Refusals by address") are someone trying keys.',
      metric: toShare('401, % of requests', unauthorized, toAllRequests(stage), 50),
      threshold: 20,
      periods: 2,
      of: 3,
    },
    {
      name: 'forbidden-requests',
      severity: 'ticket',
      description:
        'At least 1 in 10 requests gets 403. Look at the saved query "Cost in request units by key" for the key: a read key is used to write, so its owner needs another or the key has leaked and must be revoked; where the firewall is on, it may be what refuses.',
      metric: toShare('403, % of requests', forbidden, toAllRequests(stage), 50),
      threshold: 10,
      periods: 2,
      of: 3,
    },
  ];
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

/** Where there is always traffic, none of clients means that nothing gets through to the gateway. */
function defineSilenceAlarm(
  counts: AccessLogMetrics['operations'],
  quietMinutes: number,
): WatchAlarm {
  const usingMetrics = Object.fromEntries(operationIds.map((id) => [id, counts[id].requests]));
  return {
    name: 'silence',
    severity: 'page',
    description: `No client's request has come for ${quietMinutes} minutes. Look at the name's DNS record, its certificate and the AWS Health Dashboard, and call the service from outside; if it is night in the shop and nothing is wrong, raise quietMinutes in ${stagesFile}.`,
    metric: new MathExpression({
      label: 'requests',
      expression: operationIds.map((id) => `FILL(${id}, 0)`).join(' + '),
      usingMetrics,
      period: Duration.minutes(quietMinutes),
    }),
    threshold: 1,
    comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
    missing: TreatMissingData.BREACHING,
  };
}
