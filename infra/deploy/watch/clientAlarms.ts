import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { findReservedConcurrency } from '../../stages/concurrency.ts';
import { toNames } from '../../stages/resourceNames.ts';
import { operationSettings, type Stage, stagesFile } from '../../stages/stages.ts';
import { type AlarmPart, clientErrorStatuses } from '../service/serviceMetrics.ts';
import { defineSharedAlarms, type WatchAlarm } from './alarms.ts';
import {
  type AccessLogMetrics,
  buildCallsMetric,
  buildGatewayMetric,
  buildLatencyMetric,
  buildRequestsMetric,
  buildShareMetric,
  renderClientCalls,
} from './metrics.ts';

type OperationCounts = AccessLogMetrics['operations'];

/** Alarms for what affects clients now. */
export function defineClientAlarms(
  stage: Stage,
  {
    refusals: { throttled, unauthorized, forbidden },
    filtered,
    operations: counts,
  }: AccessLogMetrics,
): WatchAlarm[] {
  const { quietMinutes } = stage.settings;
  // Each operation's requests are counted into the same metric.
  const [requests] = operationIds.flatMap((id) => counts[id].any ?? []);
  const serverErrors = buildGatewayMetric(stage, '5XXError', { statistic: Stats.SUM });
  return [
    {
      name: 'server-errors',
      severity: 'outage',
      description:
        'At least 1 in 100 requests fails with a 5xx. Look at the saved query "Errors with their cause" for the reason, and at the dashboard for the function. If it began with a deployment, roll back.',
      metric: buildShareMetric(stage, '5xx, % of requests', serverErrors, 5, filtered),
      threshold: 1,
      periods: [2, 3],
    },
    ...operationIds.flatMap((id) => defineFailureAlarms(stage, id, counts)),
    ...defineErrorBudgetAlarms(stage, counts),
    ...defineClientErrorAlarms(stage, counts),
    ...defineLatencyAlarms(stage),
    ...(requests && quietMinutes ? [defineNoRequestsAlarm(requests, quietMinutes)] : []),
    {
      name: 'throttled-requests',
      description: `At least 1 in 20 requests gets 429. Look at the saved query "Requests by address" for the sender. Stop a runaway client, or raise the operation's throttle in ${stagesFile}.`,
      metric: buildShareMetric(stage, '429, % of requests', throttled, 20, filtered),
      threshold: 5,
      periods: [2, 3],
    },
    // Someone who guesses keys, a key used beyond its permission, or a client that missed a rotation.
    {
      name: 'unauthorized-requests',
      description:
        'At least 1 in 5 requests gets 401. Look at the saved query "Refused credentials by reason". One key id that expired or was revoked means a client that has not noticed. Many malformed ones from few addresses ("Requests by address") mean that someone tries keys.',
      metric: buildShareMetric(stage, '401, % of requests', unauthorized, 50, filtered),
      threshold: 20,
      periods: [2, 3],
    },
    {
      name: 'forbidden-requests',
      description:
        'At least 1 in 10 requests gets 403. Look at the saved query "Cost in request units by key" for the key. A read key is used to write: its owner needs another key, or the key has leaked and must be revoked.',
      metric: buildShareMetric(stage, '403, % of requests', forbidden, 50, filtered),
      threshold: 10,
      periods: [2, 3],
    },
    defineEmptyLogAlarm(stage),
  ];
}

const inFiveMinutes = Duration.minutes(5);
const inQuarter = Duration.minutes(15);
const inDay = Duration.days(1);

const seekCause =
  'Look at the saved query "Errors with their cause" for the reason. If it began with a deployment, roll back.';

/** This many times the share of failures that an operation's objective allows, in percent. */
function computeBudget(id: OperationId, times: number): number {
  return Number(((100 - operationSettings[id].availabilityPercent) * times).toFixed(6));
}

/**
 * The failures of one operation as a percentage of its requests. Crashes, timeouts and calls that Lambda refused count,
 * like the handler's own 5xx.
 */
function buildFailureShare(
  stage: Stage,
  id: OperationId,
  counts: OperationCounts,
  minFailures: number,
  period: Duration,
): AlarmPart {
  const [failed, calls] = [`${id}Failed`, `${id}Calls`];
  const asked = renderClientCalls(stage, period, calls, failed);
  return {
    value: `IF(FILL(${failed}, 0) >= ${minFailures}, 100 * ${failed} / ${asked}, 0)`,
    usingMetrics: { [failed]: counts[id].failures, [calls]: buildCallsMetric(stage, id) },
  };
}

/** Pages for one operation, busy or rarely called, by its objective. */
function defineFailureAlarms(stage: Stage, id: OperationId, counts: OperationCounts): WatchAlarm[] {
  // Nobody needs to be woken for an operation that was turned off on purpose.
  const isTurnedOff = findReservedConcurrency(stage.settings, id) === 0;
  const label = '5xx, % of requests';
  return [
    ...defineSharedAlarms(
      {
        name: `${id}-server-errors`,
        severity: isTurnedOff ? 'ticket' : 'outage',
        label,
        description: `At least ${computeBudget(id, 50)}% of the requests for ${id} get a 5xx, however small its share of the traffic. ${seekCause}`,
        threshold: computeBudget(id, 50),
        periods: [2, 3],
      },
      [buildFailureShare(stage, id, counts, 3, inFiveMinutes)],
    ),
    ...defineSharedAlarms(
      {
        name: `${id}-failing`,
        severity: isTurnedOff ? 'ticket' : 'degraded',
        label,
        description: `At least half of the requests for ${id} got a 5xx, in three quarters of an hour of the last four hours. ${seekCause}`,
        threshold: 50,
        // The quarters move on every minute, so one call and its retries touch two. Three take more than one call.
        periods: [3, 16],
      },
      [buildFailureShare(stage, id, counts, 1, inQuarter)],
      inQuarter,
    ),
  ];
}

function defineErrorBudgetAlarms(stage: Stage, counts: OperationCounts): WatchAlarm[] {
  return defineSharedAlarms(
    {
      name: 'error-budget',
      label: '5xx, times what the objective allows',
      description: `At least 10 requests for an operation got a 5xx within 24 hours, and three times the share that its objective allows. Look at the saved queries "Requests by status" for which one, and "Errors with their cause" for the reason, over 24 hours. If it began with a deployment, roll back.`,
      threshold: 3,
    },
    operationIds.map((id) => {
      const { value, ...part } = buildFailureShare(stage, id, counts, 10, inDay);
      return { ...part, value: `${value} * ${Number((1 / computeBudget(id, 1)).toFixed(6))}` };
    }),
    inDay,
  );
}

function defineClientErrorAlarms(stage: Stage, counts: OperationCounts): WatchAlarm[] {
  const parts = operationIds.flatMap((id): AlarmPart[] => {
    const { clientErrors } = counts[id];
    const [refused, calls] = [`${id}Refused`, `${id}Calls`];
    const asked = renderClientCalls(stage, inQuarter, calls, refused);
    const value = `IF(${asked} >= 20, 100 * FILL(${refused}, 0) / ${asked}, 0)`;
    const usingMetrics = { [calls]: buildCallsMetric(stage, id) };
    return clientErrors
      ? [{ value, usingMetrics: { [refused]: clientErrors, ...usingMetrics } }]
      : [];
  });
  return defineSharedAlarms(
    {
      name: 'client-errors',
      label: '4xx, % of requests',
      description: `At least half of 20 or more requests for an operation got ${clientErrorStatuses.join(', ')} within 15 minutes. Look at the saved query "Requests by status", for 4xx, for which one, and whether one client sends them all. If all clients get them, it is the service: if it began with a deployment, roll back.`,
      threshold: 50,
    },
    parts,
    inQuarter,
  );
}

function defineLatencyAlarms(stage: Stage): WatchAlarm[] {
  return defineSharedAlarms(
    {
      name: 'latency',
      label: '99th percentile, % of the objective',
      severity: 'degraded',
      description:
        'The slowest 1% of the calls of an operation take as long as its latencyMilliseconds, or longer; of a streamed list until the first byte. Look at `npx petstore status` for which one, at the saved query "Slowest requests", and at the X-Ray traces for where the time goes. If it began with a deployment, roll back.',
      threshold: 100,
      periods: [3, 3],
    },
    operationIds.map((id) => ({
      value: `100 * FILL(${id}, 0) / ${operationSettings[id].latencyMilliseconds}`,
      usingMetrics: { [id]: buildLatencyMetric(stage, id, { statistic: Stats.p(99) }) },
    })),
  );
}

/** If a stage always has traffic, no requests means that nothing reaches the gateway. */
function defineNoRequestsAlarm(requests: Metric, quietMinutes: number): WatchAlarm {
  return {
    name: 'no-requests',
    severity: 'outage',
    description: `No client's request has arrived for ${quietMinutes} minutes. Look at the domain name's DNS record, its certificate and the AWS Health Dashboard, and call the service from outside. If the shop has few visitors at this hour and nothing is wrong, raise quietMinutes in ${stagesFile}.`,
    metric: requests.with({ period: Duration.minutes(quietMinutes) }),
    threshold: 1,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
  };
}

/** Most alarms count lines of the access log. Without lines, they see nothing. */
function defineEmptyLogAlarm(stage: Stage): WatchAlarm {
  const logName = toNames(stage).accessLog;
  return {
    name: 'access-log-empty',
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
        requests: buildRequestsMetric(stage),
      },
      period: inQuarter,
    }),
    threshold: 1,
    periods: [2, 2],
  };
}
