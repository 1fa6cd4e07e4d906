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
import { deployments, deprecatedCallers, deprecatedOperations } from './logQueries.ts';
import {
  type AccessLogMetrics,
  buildCallsMetric,
  buildFunctionMetric,
  buildGatewayMetric,
  buildLatencyMetric,
  buildTableMetric,
} from './metrics.ts';

const DAYS = 28;

const lastDays = { start: `-P${DAYS}D`, end: 'P0D' };

// A widget with setPeriodToTimeRange shows one number for its whole time and ignores this period.
const sum = { statistic: Stats.SUM, period: Duration.days(1) };

/** A third of the 24 columns, so that three graphs fit in a row. */
const width = 8;

/** Only `npx petstore keys` writes to the table of keys. */
const writtenTables = tableNames.filter((table) => table !== 'apiKeys');

/**
 * A stage's page: alarms, objectives, clients, functions, tables, deployments and callers of deprecated operations. With
 * up to eight operations it has at most 50 metrics; with more, it would cost $3 a month. So it leaves out throttles,
 * which `npx petstore status` names.
 */
export function defineDashboard(
  scope: Construct,
  stage: Stage,
  { refusals, operations }: AccessLogMetrics,
  alarms: IAlarm[],
): void {
  new Dashboard(scope, 'Dashboard', {
    dashboardName: toNames(stage).stack,
    widgets: [
      alarms.length > 0
        ? [new AlarmStatusWidget({ title: 'Alarms', alarms, width: 24, height: 4 })]
        : [],
      buildObjectiveRow(stage, operations),
      buildGatewayRow(stage, refusals),
      buildFunctionRow(stage),
      buildTableRow(stage),
      [
        buildQueryTable(
          'Deployments: versions that served requests',
          stage,
          operationIds,
          deployments,
        ),
      ],
      buildDeprecationRow(stage),
    ],
  });
}

function buildObjectiveRow(stage: Stage, counts: AccessLogMetrics['operations']): IWidget[] {
  const buildValues = (what: string, toMetric: (id: OperationId) => IMetric) =>
    new SingleValueWidget({
      title: `${what}, last ${DAYS} days`,
      metrics: operationIds.map(toMetric),
      width,
      setPeriodToTimeRange: true,
      ...lastDays,
    });
  // Names must be unique in a widget.
  const buildShare = (id: OperationId, label: string, ofBudget = '') =>
    new MathExpression({
      label,
      expression: `100 * (1 - FILL(${id}Failures, 0) / ${id}Calls${ofBudget})`,
      usingMetrics: {
        [`${id}Failures`]: counts[id].failures.with(sum),
        [`${id}Calls`]: buildCallsMetric(stage, id).with(sum),
      },
      period: sum.period,
    });
  return [
    buildValues('Availability, %', (id) =>
      buildShare(id, `${id} (at least ${operationSettings[id].availabilityPercent})`),
    ),
    buildValues('Error budget left, %', (id) => {
      const budget = 1 - operationSettings[id].availabilityPercent / 100;
      return buildShare(id, id, ` / ${budget.toFixed(6)}`);
    }),
    buildValues('99th percentile, milliseconds', (id) => {
      const label = `${id} (below ${operationSettings[id].latencyMilliseconds})`;
      return buildLatencyMetric(stage, id, { statistic: Stats.p(99), period: sum.period, label });
    }),
  ];
}

function buildGatewayRow(stage: Stage, refusals: AccessLogMetrics['refusals']): IWidget[] {
  const buildMetric = (
    name: Parameters<typeof buildGatewayMetric>[1],
    label: string,
    statistic: string = Stats.SUM,
  ) => buildGatewayMetric(stage, name, { statistic, label });
  const refused = Object.values(refusals);
  return [
    buildGraph('Traffic: requests', [buildMetric('Count', 'all')]),
    buildGraph('Errors: requests', [
      buildMetric('5XXError', '5xx'),
      buildMetric('4XXError', 'all 4xx'),
      ...refused,
    ]),
    buildGraph(
      'Latency: milliseconds',
      [50, 90, 99].map((percentile) =>
        buildMetric('Latency', `p${percentile}`, Stats.p(percentile)),
      ),
    ),
  ];
}

function buildFunctionRow(stage: Stage): IWidget[] {
  const mapOperationMetrics = (
    name: Parameters<typeof buildFunctionMetric>[2],
    statistic: string,
  ) => operationIds.map((id) => buildFunctionMetric(stage, id, name, { statistic }));
  return [
    buildGraph('Functions: calls', mapOperationMetrics('Invocations', Stats.SUM)),
    buildGraph(
      'Functions: 99th percentile, milliseconds',
      operationIds.map((id) =>
        buildLatencyMetric(stage, id, { statistic: Stats.p(99), label: id }),
      ),
    ),
    buildGraph(
      'Functions: concurrency',
      mapOperationMetrics('ConcurrentExecutions', Stats.MAXIMUM),
    ),
  ];
}

function buildTableRow(stage: Stage): IWidget[] {
  const { maximumUnitsPerSecond } = stage.settings;
  const buildUnits = (names: readonly TableName[], kind: 'Read' | 'Write') =>
    names.map((table) => {
      const limit = maximumUnitsPerSecond[table][kind === 'Read' ? 'read' : 'write'];
      const id = `${table}${kind}`;
      return new MathExpression({
        label: `${table} (at most ${limit})`,
        expression: `${id} / PERIOD(${id})`,
        usingMetrics: { [id]: buildTableMetric(stage, table, `Consumed${kind}CapacityUnits`) },
      });
    });
  return [
    buildGraph('Tables: read units a second', buildUnits(tableNames, 'Read')),
    buildGraph('Tables: write units a second', buildUnits(writtenTables, 'Write')),
  ];
}

function buildDeprecationRow(stage: Stage): IWidget[] {
  if (deprecatedOperations.length === 0) return [];
  const title = `Callers of deprecated operations: ${deprecatedOperations.join(', ')}`;
  return [buildQueryTable(title, stage, deprecatedOperations, deprecatedCallers)];
}

function buildQueryTable(
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

function buildGraph(title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ title, left, width, leftYAxis: { min: 0 } });
}
