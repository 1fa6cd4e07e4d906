import { Duration } from 'aws-cdk-lib';
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  SingleValueWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type OperationId, operationIds } from '../../shared/contract/operations.ts';
import { toFunctionMetric, toGatewayMetric, toLogMetric } from '../service/serviceMetrics.ts';
import { type NamedStage, toFunctionLogName, toStackName } from '../stages/resourceNames.ts';
import { operationSettings, type Stage } from '../stages/stages.ts';
import { tableNames } from '../stages/tables.ts';
import { toCostRow } from './costRow.ts';
import { deployments, toDeprecatedCallers, toDeprecatedOperations } from './logQueries.ts';
import { period, type RefusalMetrics, toLatencyMetric } from './requestMetrics.ts';
import { toConsumedUnits, toTableThrottles } from './tableMetrics.ts';

/** Days that the objectives look back on. */
const DAYS = 28;

// A widget that takes its whole time for one period makes one number of it, whatever period is named here.
const sum = { statistic: Stats.SUM, period: Duration.days(1) };

/** Of 24 columns, so that three graphs stand side by side. */
const width = 8;

/** Keys are written by hand alone. */
const writtenTables = tableNames.filter((table) => table !== 'apiKeys');

/** One page per stage: the objectives and what clients feel above, what carries them below, then what it costs, what was deployed and who must move on. At most 50 metrics: a dashboard with more costs $3 a month. */
export function defineDashboard(
  scope: Construct,
  stage: Stage,
  refusals: RefusalMetrics,
  alarms: Alarm[],
): void {
  new Dashboard(scope, 'Dashboard', {
    dashboardName: toStackName(stage),
    widgets: [
      alarms.length > 0
        ? [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 4 })]
        : [],
      toObjectiveRow(stage),
      toGatewayRow(stage, refusals),
      toFunctionRow(stage),
      toTableRow(stage),
      toCostRow(stage),
      toDeploymentRow(stage),
      toDeprecationRow(stage),
    ],
  });
}

/** How the operations did in the last four weeks, against what their settings promise. */
function toObjectiveRow(stage: NamedStage): IWidget[] {
  const title = (what: string) => `${what}, last ${DAYS} days`;
  const toEach = (toMetric: (id: OperationId) => IMetric) => operationIds.map(toMetric);
  return [
    toValues(
      title('Availability, %'),
      toEach((id) => toExpression(stage, id, '100 * (1 - FILL(failed, 0) / calls)', toTarget(id))),
    ),
    toValues(
      title('Error budget left, %'),
      toEach((id) => {
        const budget = 1 - operationSettings[id].availabilityPercent / 100;
        return toExpression(
          stage,
          id,
          `100 * (1 - FILL(failed, 0) / calls / ${budget.toFixed(6)})`,
          '',
        );
      }),
    ),
    toValues(
      title('Slowest hundredth, milliseconds'),
      toEach((id) => toLatency(stage, id)),
    ),
  ];
}

function toTarget(id: OperationId): string {
  return ` (at least ${operationSettings[id].availabilityPercent})`;
}

function toExpression(
  stage: NamedStage,
  id: OperationId,
  expression: string,
  target: string,
): IMetric {
  // Names are unique in a widget.
  const [failed, calls] = [`${id}Failed`, `${id}Calls`];
  return new MathExpression({
    label: `${id}${target}`,
    expression: expression.replace('failed', failed).replace('calls', calls),
    usingMetrics: {
      [failed]: toLogMetric(stage, id, 'serverErrors', sum),
      [calls]: toFunctionMetric(stage, id, 'Invocations', sum),
    },
    period: sum.period,
  });
}

function toLatency(stage: NamedStage, id: OperationId): IMetric {
  const { latencyMilliseconds } = operationSettings[id];
  const label = `${id} (below ${latencyMilliseconds})`;
  return toLatencyMetric(stage, id, { statistic: Stats.p(99), period: sum.period, label });
}

function toValues(title: string, metrics: IMetric[]): SingleValueWidget {
  return new SingleValueWidget({
    title,
    metrics,
    width,
    setPeriodToTimeRange: true,
    start: `-P${DAYS}D`,
    end: 'P0D',
  });
}

function toGatewayRow(stage: NamedStage, refusals: RefusalMetrics): IWidget[] {
  const toSum = (name: '4XXError' | '5XXError' | 'Count', label: string) =>
    toGatewayMetric(stage, name, { statistic: Stats.SUM, period, label });
  const toLatency = (percentile: number) =>
    toGatewayMetric(stage, 'Latency', {
      statistic: Stats.p(percentile),
      period,
      label: `p${percentile}`,
    });
  return [
    toGraph('Traffic: requests', [toSum('Count', 'all')]),
    toGraph('Errors: requests', [
      toSum('5XXError', '5xx'),
      toSum('4XXError', 'all 4xx'),
      ...Object.values(refusals),
    ]),
    toGraph('Latency: milliseconds', [50, 90, 99].map(toLatency)),
  ];
}

function toFunctionRow(stage: NamedStage): IWidget[] {
  const toEach = (name: Parameters<typeof toFunctionMetric>[2], statistic: string, suffix = '') =>
    operationIds.map((id) =>
      toFunctionMetric(stage, id, name, { statistic, period, label: `${id}${suffix}` }),
    );
  return [
    toGraph('Functions: calls', toEach('Invocations', Stats.SUM)),
    toGraph('Functions: 99th percentile, milliseconds', toEach('Duration', Stats.p(99))),
    toGraph('Functions: running at once, throttles', [
      ...toEach('ConcurrentExecutions', Stats.MAXIMUM, ' at once'),
      ...toEach('Throttles', Stats.SUM, ' throttled'),
    ]),
  ];
}

function toTableRow(stage: Stage): IWidget[] {
  return [
    toGraph(
      'Tables: read units consumed',
      tableNames.map((table) => toConsumedUnits(stage, table, 'Read')),
    ),
    toGraph(
      'Tables: write units consumed',
      writtenTables.map((table) => toConsumedUnits(stage, table, 'Write')),
    ),
    toGraph(
      'Tables: throttles',
      tableNames.map((table) => toTableThrottles(stage, table)),
    ),
  ];
}

function toDeploymentRow(stage: NamedStage): IWidget[] {
  return [
    new LogQueryWidget({
      title: 'Deployments: commits that answered',
      logGroupNames: operationIds.map((id) => toFunctionLogName(stage, id)),
      queryLines: [...deployments],
      view: LogQueryVisualizationType.TABLE,
      width: 24,
    }),
  ];
}

function toDeprecationRow(stage: NamedStage): IWidget[] {
  const ids = toDeprecatedOperations();
  if (ids.length === 0) return [];
  return [
    new LogQueryWidget({
      title: `Who still calls ${ids.join(', ')}, deprecated`,
      logGroupNames: ids.map((id) => toFunctionLogName(stage, id)),
      queryLines: toDeprecatedCallers(),
      view: LogQueryVisualizationType.TABLE,
      width: 24,
    }),
  ];
}

function toGraph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width, leftYAxis: { min: 0 } });
}
