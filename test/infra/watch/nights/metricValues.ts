import { type TableName, tableNames } from '../../../../infra/stages/tables.ts';
import { ends, toDaysMetricName } from '../../../../infra/watch/check/daysLeft.ts';
import { type OperationId, operationIds } from '../../../../shared/contract/operations.ts';
import { countRequests, countServerErrors, type Minute, type OperationMinute } from './traffic.ts';

/** A metric as a template has it. */
export interface TemplateMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
}

/** Nothing, where nothing happened: a metric has no value then, and not 0. */
type Reading = (minute: Minute) => number | undefined;

/**
 * What CloudWatch has of a metric for a period: a sum, the largest or the smallest; nothing without values.
 * @throws {Error} when the metric is one that nobody made up
 */
export function readMetric(
  metric: TemplateMetric,
  statistic: string,
  period: readonly Minute[],
): number | undefined {
  const read = toReading(metric);
  const values = period.map(read).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  if (statistic === 'Minimum') return Math.min(...values);
  const isLargest = statistic === 'Maximum' || /^p\d/.test(statistic);
  return isLargest ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
}

function toReading({ Namespace, MetricName, Dimensions = [] }: TemplateMetric): Reading {
  const exact = toCheckReading(MetricName, Dimensions[0]?.Value);
  if (exact) return exact;
  const dimension = (name: string) => Dimensions.find(({ Name }) => Name === name)?.Value ?? '';
  const readings: Record<string, () => Reading | undefined> = {
    'AWS/ApiGateway': () => gateway[MetricName],
    'AWS/Lambda': () => {
      if (MetricName === 'ConcurrentExecutions' && Dimensions.length === 0)
        return ({ accountAtOnce }) => accountAtOnce;
      return ofOperation(dimension('FunctionName'), lambda[MetricName]);
    },
    'AWS/DynamoDB': () => ofTable(dimension('TableName'), MetricName, dimension('Operation')),
    'petstore-production': () =>
      refusals[MetricName] ?? ofOperation(MetricName, counted(MetricName)),
  };
  const reading = readings[Namespace]?.();
  if (!reading) throw new Error(`There is no ${Namespace} ${MetricName}.`);
  return (minute) => reading(minute) || undefined;
}

/** What the scheduled check counts and tells, zeros included. */
function toCheckReading(name: string, functionName: string | undefined): Reading | undefined {
  const end = ends.find((one) => toDaysMetricName(one) === name);
  if (end) return ({ check, days }) => (check === 'passed' ? days[end] : undefined);
  if (functionName !== 'petstore-production-check') return undefined;
  return ({ check }) => ({ passed: 0, failed: 1, none: undefined })[check];
}

const gateway: Record<string, Reading> = {
  Count: countRequests,
  '5XXError': countServerErrors,
};

const refusals: Record<string, Reading> = {
  unauthorized: ({ refusals }) => refusals[401],
  forbidden: ({ refusals }) => refusals[403],
  throttled: ({ refusals }) => refusals[429],
};

type OperationReading = (minute: OperationMinute) => number;

const lambda: Record<string, OperationReading> = {
  Invocations: ({ calls }) => calls,
  Errors: ({ crashed }) => crashed,
  Throttles: ({ refused }) => refused,
  Duration: ({ calls, slowest }) => (calls > 0 ? slowest : 0),
  ConcurrentExecutions: ({ calls, atOnce }) => (calls > 0 ? atOnce : 0),
};

function counted(name: string): OperationReading | undefined {
  if (name.endsWith('ServerErrors')) return ({ failed }) => failed;
  if (name.endsWith('FirstByte')) return ({ calls, firstByte }) => (calls > 0 ? firstByte : 0);
  return undefined;
}

function ofOperation(text: string, read: OperationReading | undefined): Reading | undefined {
  const id = operationIds.find((one: OperationId) => text.includes(one));
  return id && read && (({ operations }) => read(operations[id]));
}

function ofTable(text: string, metricName: string, operation: string): Reading | undefined {
  const table = tableNames.find((one: TableName) => text.endsWith(one));
  if (!table) return undefined;
  if (metricName === 'ReadThrottleEvents') return ({ throttles }) => throttles[table] ?? 0;
  if (metricName === 'WriteThrottleEvents') return () => 0;
  // Made up for one kind of call alone, so that none is counted twice.
  const first = ['GetItem', 'Query'].includes(operation);
  return ({ systemErrors }) => (first ? (systemErrors[table] ?? 0) : 0);
}
