import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  SingleValueWidget,
  Stats,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { type OperationId, operationIds } from '../../../shared/contract/operations.ts';
import { toNames } from '../../stages/resourceNames.ts';
import { operationSettings, type Stage } from '../../stages/stages.ts';
import { type TableName, tableNames } from '../../stages/tables.ts';
import { toFunctionMetric, toGatewayMetric } from '../service/serviceMetrics.ts';
import { deployments, deprecatedCallers, deprecatedOperations } from './logQueries.ts';
import {
  type AccessLogMetrics,
  toCalls,
  toLatencyMetric,
  toTableMetric,
  toTableThrottles,
} from './metrics.ts';

/** The number of days that the objectives cover. */
const DAYS = 28;

const lastDays = { start: `-P${DAYS}D`, end: 'P0D' };

// A widget with setPeriodToTimeRange shows one number for its whole time and ignores this period.
const sum = { statistic: Stats.SUM, period: Duration.days(1) };

/** A third of the 24 columns, so that three graphs fit in a row. */
const width = 8;

/** Only `npx petstore keys` writes to the table of keys. */
const writtenTables = tableNames.filter((table) => table !== 'apiKeys');

/**
 * A stage's pages. The first has objectives, clients, deployments and callers of deprecated operations; the second has
 * functions and tables. With up to eight operations, no page has more than 50 metrics: such a dashboard costs $3 a month.
 */
export function defineDashboards(
  scope: Construct,
  stage: Stage,
  { refusals, operations }: AccessLogMetrics,
  alarms: IAlarm[],
): void {
  const dashboardName = toNames(stage).stack;
  new Dashboard(scope, 'Dashboard', {
    dashboardName,
    widgets: [
      alarms.length > 0
        ? [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 4 })]
        : [],
      toObjectiveRow(stage, operations),
      toGatewayRow(stage, refusals),
      [
        toQueryTable(
          'Deployments: versions that served requests',
          stage,
          operationIds,
          deployments,
        ),
      ],
      toDeprecationRow(stage),
    ],
  });
  new Dashboard(scope, 'CapacityDashboard', {
    dashboardName: `${dashboardName}-capacity`,
    widgets: [toFunctionRow(stage), toTableRow(stage)],
  });
}

/** The operations' results in the last four weeks, next to their objectives. */
function toObjectiveRow(stage: Stage, counts: AccessLogMetrics['operations']): IWidget[] {
  const toValues = (what: string, toMetric: (id: OperationId) => IMetric) =>
    new SingleValueWidget({
      title: `${what}, last ${DAYS} days`,
      metrics: operationIds.map(toMetric),
      width,
      setPeriodToTimeRange: true,
      ...lastDays,
    });
  // Names must be unique in a widget.
  const toShare = (id: OperationId, label: string, ofBudget = '') =>
    new MathExpression({
      label,
      expression: `100 * (1 - FILL(${id}Failures, 0) / ${id}Calls${ofBudget})`,
      usingMetrics: {
        [`${id}Failures`]: counts[id].failures.with(sum),
        [`${id}Calls`]: toCalls(stage, id).with(sum),
      },
      period: sum.period,
    });
  return [
    toValues('Availability, %', (id) =>
      toShare(id, `${id} (at least ${operationSettings[id].availabilityPercent})`),
    ),
    toValues('Error budget left, %', (id) => {
      const budget = 1 - operationSettings[id].availabilityPercent / 100;
      return toShare(id, id, ` / ${budget.toFixed(6)}`);
    }),
    toValues('99th percentile, milliseconds', (id) => {
      const label = `${id} (below ${operationSettings[id].latencyMilliseconds})`;
      return toLatencyMetric(stage, id, { statistic: Stats.p(99), period: sum.period, label });
    }),
  ];
}

function toGatewayRow(stage: Stage, refusals: AccessLogMetrics['refusals']): IWidget[] {
  const toMetric = (
    name: Parameters<typeof toGatewayMetric>[1],
    label: string,
    statistic: string = Stats.SUM,
  ) => toGatewayMetric(stage, name, { statistic, label });
  const refused = Object.values(refusals);
  return [
    toGraph('Traffic: requests', [toMetric('Count', 'all')]),
    toGraph('Errors: requests', [
      toMetric('5XXError', '5xx'),
      toMetric('4XXError', 'all 4xx'),
      ...refused,
    ]),
    toGraph(
      'Latency: milliseconds',
      [50, 90, 99].map((percentile) => toMetric('Latency', `p${percentile}`, Stats.p(percentile))),
    ),
  ];
}

function toFunctionRow(stage: Stage): IWidget[] {
  const toEach = (name: Parameters<typeof toFunctionMetric>[2], statistic: string, suffix = '') =>
    operationIds.map((id) =>
      toFunctionMetric(stage, id, name, { statistic, label: `${id}${suffix}` }),
    );
  return [
    toGraph('Functions: calls', toEach('Invocations', Stats.SUM)),
    toGraph('Functions: 99th percentile, milliseconds', toEach('Duration', Stats.p(99))),
    toGraph('Functions: concurrency, throttles', [
      ...toEach('ConcurrentExecutions', Stats.MAXIMUM, ' at once'),
      ...toEach('Throttles', Stats.SUM, ' throttled'),
    ]),
  ];
}

function toTableRow(stage: Stage): IWidget[] {
  const { maximumUnitsPerSecond } = stage.settings;
  const toUnits = (names: readonly TableName[], kind: 'Read' | 'Write') =>
    names.map((table) => {
      const limit = maximumUnitsPerSecond[table][kind === 'Read' ? 'read' : 'write'];
      const id = `${table}${kind}`;
      return new MathExpression({
        label: `${table} (at most ${limit})`,
        expression: `${id} / PERIOD(${id})`,
        usingMetrics: { [id]: toTableMetric(stage, table, `Consumed${kind}CapacityUnits`) },
      });
    });
  const throttles = tableNames.map((table) => {
    const { value, usingMetrics } = toTableThrottles(stage, table);
    return new MathExpression({ label: table, expression: value, usingMetrics });
  });
  return [
    toGraph('Tables: read units a second', toUnits(tableNames, 'Read')),
    toGraph('Tables: write units a second', toUnits(writtenTables, 'Write')),
    toGraph('Tables: throttles', throttles),
  ];
}

function toDeprecationRow(stage: Stage): IWidget[] {
  const ids = deprecatedOperations.map(({ id }) => id);
  if (ids.length === 0) return [];
  const title = `Callers of deprecated operations: ${ids.join(', ')}`;
  return [toQueryTable(title, stage, ids, deprecatedCallers)];
}

function toQueryTable(
  title: string,
  stage: Stage,
  ids: readonly OperationId[],
  lines: readonly string[],
): LogQueryWidget {
  return new LogQueryWidget({
    title,
    logGroupNames: ids.map((id) => toNames(stage).toFunctionLog(id)),
    queryLines: [...lines],
    view: LogQueryVisualizationType.TABLE,
    width: 24,
  });
}

function toGraph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width, leftYAxis: { min: 0 } });
}
