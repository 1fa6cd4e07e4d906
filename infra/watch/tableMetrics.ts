import { type IMetric, MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { toUsedTableName } from '../stages/resourceNames.ts';
import { type Stage, toTableCalls } from '../stages/stages.ts';
import type { TableName } from '../stages/tables.ts';
import { period } from './requestMetrics.ts';

/** The request units that a table consumed. */
export function toConsumedUnits(stage: Stage, table: TableName, kind: 'Read' | 'Write'): Metric {
  const TableName = toUsedTableName(stage, table);
  return toMetric(`Consumed${kind}CapacityUnits`, { TableName }, table);
}

/** The reads, and what writes the functions make, that DynamoDB refused for their rate. */
export function toTableThrottles(stage: Stage, table: TableName): MathExpression {
  const TableName = toUsedTableName(stage, table);
  const isWritten = toTableCalls(table).some((call) => /^(Update|TransactWrite)/.test(call));
  const names = ['ReadThrottleEvents', ...(isWritten ? ['WriteThrottleEvents'] : [])];
  return toTotal(table, names, (name) => toMetric(name, { TableName }));
}

/** DynamoDB's own failures, which it counts by the kind of call. */
export function toTableSystemErrors(stage: Stage, table: TableName): MathExpression {
  const TableName = toUsedTableName(stage, table);
  return toTotal(table, toTableCalls(table), (Operation) =>
    toMetric('SystemErrors', { TableName, Operation }),
  );
}

/**
 * The writes to inventory entries that DynamoDB refused since another transaction on the entry was at work.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html
 */
export function toTransactionConflicts(stage: Stage): Metric {
  return toMetric('TransactionConflict', { TableName: toUsedTableName(stage, 'inventory') });
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
