import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds, operations } from '../../shared/contract/operations.ts';
import { clientErrorStatuses, toGatewayMetric } from '../service/serviceMetrics.ts';
import { toReservedConcurrency } from '../stages/concurrency.ts';
import { toNames } from '../stages/resourceNames.ts';
import { operationSettings, type Stage, stagesFile } from '../stages/stages.ts';
import type { Incident, WatchAlarm, WatchAlarms } from './alarms.ts';
import {
  type AccessLogMetrics,
  toAllRequests,
  toCalls,
  toClientCalls,
  toLatencyMetric,
  toShare,
} from './metrics.ts';

/** Alarms for what affects clients now. */
export function defineClientAlarms(
  stage: Stage,
  { refusals: { throttled, unauthorized, forbidden }, operations: counts }: AccessLogMetrics,
): WatchAlarms {
  const { quietMinutes } = stage.settings;
  const serverErrors = toGatewayMetric(stage, '5XXError', { statistic: Stats.SUM });
  return [
    {
      name: 'server-errors',
      severity: 'outage',
      description:
        'At least 1 in 100 requests fails with a 5xx. Look at the saved query "Errors with their cause" for the reason, and at the dashboard for the function. If it began with a deployment, roll back.',
      metric: toShare(stage, '5xx, % of requests', serverErrors, 5),
      threshold: 1,
      periods: [2, 3],
    },
    ...operationIds.flatMap((id) => defineFailureAlarms(stage, id, counts[id])),
    ...operationIds.map((id) => defineLatencyAlarm(stage, id)),
    quietMinutes === undefined ? undefined : defineSilenceAlarm(counts, quietMinutes),
    {
      name: 'throttled-requests',
      description: `At least 1 in 20 requests gets 429. Look at the saved query "Refusals by address" for the sender. Stop a runaway client, or raise the operation's throttle in ${stagesFile}.`,
      metric: toShare(stage, '429, % of requests', throttled, 20),
      threshold: 5,
      periods: [2, 3],
    },
    // Someone who tries keys, a key used beyond its permission, or a client that missed a rotation.
    {
      name: 'unauthorized-requests',
      description:
        'At least 1 in 5 requests gets 401. Look at the saved query "Refused credentials by reason". One key id that expired or was revoked means a client that has not noticed. Many malformed ones from few addresses ("Refusals by address") mean that someone tries keys.',
      metric: toShare(stage, '401, % of requests', unauthorized, 50),
      threshold: 20,
      periods: [2, 3],
    },
    {
      name: 'forbidden-requests',
      description:
        'At least 1 in 10 requests gets 403. Look at the saved query "Cost in request units by key" for the key. A read key is used to write: its owner needs another key, or the key has leaked and must be revoked. If the firewall is on, it may refuse the requests.',
      metric: toShare(stage, '403, % of requests', forbidden, 50),
      threshold: 10,
      periods: [2, 3],
    },
    defineSilentLogAlarm(stage),
  ];
}

/**
 * Alarms for one operation, busy or rarely called, by its objective. Crashes, timeouts and calls that Lambda refused
 * count as failures, like the handler's own 5xx.
 */
function defineFailureAlarms(
  stage: Stage,
  id: OperationId,
  { failures, clientErrors }: AccessLogMetrics['operations'][OperationId],
): WatchAlarms {
  // Nobody needs to be woken for an operation that was turned off on purpose.
  const isTurnedOff = toReservedConcurrency(stage.settings, id) === 0;
  const toSeverity = (incident: Incident) => (isTurnedOff ? 'ticket' : incident);
  const { availabilityPercent } = operationSettings[id];
  /** This many times the share of failures that the objective allows, in percent. */
  const toBudget = (times: number) => Number(((100 - availabilityPercent) * times).toFixed(6));
  const calls = toCalls(stage, id);
  const toFailureShare = (minFailures: number, sharePeriod = Duration.minutes(5)) =>
    new MathExpression({
      label: '5xx, % of requests',
      expression: `IF(FILL(failed, 0) >= ${minFailures}, 100 * failed / ${toClientCalls(stage, sharePeriod, 'calls', 'failed')}, 0)`,
      usingMetrics: { failed: failures, calls },
      period: sharePeriod,
    });
  const asked = toClientCalls(stage, quarter, 'calls', 'refused');
  const act =
    'Look at the saved query "Errors with their cause" for the reason. If it began with a deployment, roll back.';
  return [
    {
      name: `${id}-server-errors`,
      severity: toSeverity('outage'),
      description: `At least ${toBudget(50)}% of the requests for ${id} get a 5xx, however small its share of the traffic. ${act}`,
      metric: toFailureShare(3),
      threshold: toBudget(50),
      periods: [2, 3],
    },
    {
      name: `${id}-failing`,
      severity: toSeverity('degraded'),
      description: `At least half of the requests for ${id} got a 5xx, in three quarters of an hour of the last four hours. ${act}`,
      metric: toFailureShare(1, quarter),
      threshold: 50,
      // The quarters move on every minute, so one call and its retries touch two. Three take more than one call.
      periods: [3, 16],
    },
    {
      name: `${id}-error-budget`,
      description: `At least 10 requests for ${id}, and ${toBudget(3)}% of all, got a 5xx within 24 hours: three times what its objective of ${availabilityPercent}% allows. ${act}`,
      metric: toFailureShare(10, Duration.days(1)),
      threshold: toBudget(3),
    },
    clientErrors && {
      name: `${id}-client-errors`,
      description: `At least half of 20 or more requests for ${id} got ${clientErrorStatuses.join(', ')} within 15 minutes. Look at \`npx petstore logs --stage ${stage.name} --status 4xx\` for whether one client sends them all. If all clients get them, it is the service: if it began with a deployment, roll back.`,
      metric: new MathExpression({
        label: '4xx, % of requests',
        expression: `IF(${asked} >= 20, 100 * FILL(refused, 0) / ${asked}, 0)`,
        usingMetrics: { refused: clientErrors, calls },
        period: quarter,
      }),
      threshold: 50,
    },
  ];
}

const quarter = Duration.minutes(15);

function defineLatencyAlarm(stage: Stage, id: OperationId): WatchAlarm {
  const { latencyMilliseconds } = operationSettings[id];
  const until = operations[id].streamed ? ' until the first byte' : '';
  return {
    name: `${id}-latency`,
    severity: 'degraded',
    description: `A call of ${id} takes ${latencyMilliseconds} ms or more${until} at the 99th percentile. Look at the saved query "Slowest requests", and at the X-Ray traces for where the time goes. If it began with a deployment, roll back.`,
    metric: toLatencyMetric(stage, id, { statistic: Stats.p(99) }),
    threshold: latencyMilliseconds,
    periods: [3, 3],
  };
}

/** If a stage always has traffic, silence means that nothing reaches the gateway. */
function defineSilenceAlarm(
  counts: AccessLogMetrics['operations'],
  quietMinutes: number,
): WatchAlarm | undefined {
  // Each operation's requests are counted into the same metric.
  const [metric] = operationIds.flatMap((id) => counts[id].any ?? []);
  return (
    metric && {
      name: 'silence',
      severity: 'outage',
      description: `No client's request has arrived for ${quietMinutes} minutes. Look at the domain name's DNS record, its certificate and the AWS Health Dashboard, and call the service from outside. If it is night in the shop and nothing is wrong, raise quietMinutes in ${stagesFile}.`,
      metric: metric.with({ period: Duration.minutes(quietMinutes) }),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    }
  );
}

/** Most alarms count lines of the access log. Without lines, they see nothing. */
function defineSilentLogAlarm(stage: Stage): WatchAlarm {
  const logName = toNames(stage).accessLog;
  return {
    name: 'access-log-silent',
    description: `The gateway gets requests, but writes no lines to its access log ${logName}, which the alarms on each operation count. Look in the API Gateway console, Settings, for the account's role for logs, and at the stage's log settings. Deploy petstore-${stage.name} again.`,
    metric: new MathExpression({
      label: 'requests without a line',
      expression: 'IF(FILL(lines, 0) < 1, FILL(requests, 0), 0)',
      usingMetrics: {
        lines: new Metric({
          namespace: 'AWS/Logs',
          metricName: 'IncomingLogEvents',
          dimensionsMap: { LogGroupName: logName },
          statistic: Stats.SUM,
        }),
        requests: toAllRequests(stage),
      },
      period: quarter,
    }),
    threshold: 1,
    periods: [2, 2],
  };
}
