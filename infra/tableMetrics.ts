import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { type OperationId, operations } from '../shared/contract/operations.ts';
import { toTableAccess } from './operationSettings.ts';
import { toTableName } from './resourceNames.ts';
import type { StageName, StageSettings } from './stages.ts';
import { type TableName, tables } from './tables.ts';
import { alarmPeriod as period } from './watchAlarm.ts';

export const tableNames = Object.keys(tables) as TableName[];

/** Names the table that the functions use, which may be one restored from a backup. */
export function toUsedTableName(
  stage: StageName,
  { restoredTables }: StageSettings,
  table: TableName,
): string {
  return restoredTables?.[table] ?? toTableName(stage, table);
}

/** The request units that a table consumed. */
export function toConsumedUnits(tableName: string, kind: 'Read' | 'Write', label: string): Metric {
  return toMetric(`Consumed${kind}CapacityUnits`, { TableName: tableName }, label);
}

/** The reads and writes that DynamoDB refused for their rate. */
export function toTableThrottles(tableName: string, table: TableName): MathExpression {
  return toTotal(table, ['ReadThrottleEvents', 'WriteThrottleEvents'], (name) =>
    toMetric(name, { TableName: tableName }),
  );
}

/** DynamoDB's own failures, which it counts by the kind of call. */
export function toTableSystemErrors(tableName: string, table: TableName): MathExpression {
  return toTotal(table, toCalls(table), (Operation) =>
    toMetric('SystemErrors', { TableName: tableName, Operation }),
  );
}

/** Every kind of call that the functions make to a table. */
function toCalls(table: TableName): string[] {
  const ids = Object.keys(operations) as OperationId[];
  const actions = ids.flatMap((id) => toTableAccess(id)[table] ?? []);
  return [...new Set(actions)].map((action) => action.replace('dynamodb:', ''));
}

function toMetric(metricName: string, dimensionsMap: Record<string, string>, label?: string) {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap,
    statistic: Stats.SUM,
    period,
    ...(label && { label }),
  });
}

/** Where one of the metrics has no value, a plain sum would have none either. Ids are unique in a graph. */
function toTotal(
  table: TableName,
  names: readonly string[],
  toNamedMetric: (name: string) => IMetric,
): MathExpression {
  const usingMetrics = Object.fromEntries(
    names.map((name, index) => [`${table}${index}`, toNamedMetric(name)]),
  );
  const expression = Object.keys(usingMetrics)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return new MathExpression({ label: table, expression, usingMetrics, period });
}
