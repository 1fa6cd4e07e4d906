import { type TableName, tableNames } from '../../../../infra/stages/tables.ts';
import { type End, ends, toDaysMetricName } from '../../../../infra/watch/check/daysLeft.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
} from '../../../../shared/contract/operations.ts';

/** What an operation saw in a minute. */
export interface OperationMinute {
  calls: number;
  /** Answers of 5xx that the handler made. */
  failed: number;
  /** Crashes and timeouts, which the gateway answers by 5xx. */
  crashed: number;
  /** Calls that Lambda refused, which the gateway answers by 5xx. */
  refused: number;
  /** The slowest hundredth, in milliseconds; of a list, the whole of it. */
  slowest: number;
  /** Of the streamed list, in milliseconds. */
  firstByte: number;
  atOnce: number;
}

/** A minute of a stage. */
export interface Minute {
  operations: Record<OperationId, OperationMinute>;
  unauthorized: number;
  forbidden: number;
  throttled: number;
  /** Read throttles, and DynamoDB's own failures. */
  throttles: Partial<Record<TableName, number>>;
  systemErrors: Partial<Record<TableName, number>>;
  /** Calls that run at once in the account. */
  accountAtOnce: number;
  /** 5xx that the gateway made by itself. */
  gatewayErrors: number;
  /** How the scheduled check ended. */
  check: 'passed' | 'failed' | 'none';
  /** Days until an end, as the check tells them. */
  days: Record<End, number>;
}

/** An operation's share of the calls, and its slowest in milliseconds. */
const ordinary: Partial<Record<OperationId, readonly [share: number, slowest: number]>> = {
  listInventory: [0.2, 1_800],
  updateInventory: [0.3, 120],
  getPet: [0.4, 90],
  listOrders: [0.1, 150],
};

/** Some calls of each operation, quick and right. */
export function toOrdinaryMinute(calls: number): Minute {
  return {
    operations: mapOperations((id) => {
      const [share, slowest] = ordinary[id] ?? [0.1, 100];
      const none = { failed: 0, crashed: 0, refused: 0 };
      return { ...none, calls: Math.round(calls * share), slowest, firstByte: 250, atOnce: 2 };
    }),
    ...{ unauthorized: 0, forbidden: 0, throttled: 0, gatewayErrors: 0, accountAtOnce: 20 },
    ...{ throttles: {}, systemErrors: {}, check: 'passed' },
    days: { certificate: 200, key: 90, sunset: 300 },
  };
}

/** A metric as a template has it. */
export interface TemplateMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
}

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

/** Nothing, where nothing happened: a metric has no value then, and not 0. What the check tells has its zeros. */
type Reading = (minute: Minute) => number | undefined;

function toReading({ Namespace, MetricName, Dimensions = [] }: TemplateMetric): Reading {
  const dimension = (name: string) => Dimensions.find((one) => one.Name === name)?.Value ?? '';
  const end = ends.find((one) => toDaysMetricName(one) === MetricName);
  if (end) return ({ check, days }) => (check === 'passed' ? days[end] : undefined);
  const functionName = dimension('FunctionName');
  if (functionName === 'petstore-production-check') {
    return ({ check }) => ({ passed: 0, failed: 1, none: undefined })[check];
  }
  const id = operationIds.find((one) => `${functionName} ${MetricName}`.includes(one));
  const count = ofOperation[id ? MetricName.replace(id, '') : ''];
  const table = tableNames.find((one) => dimension('TableName').endsWith(one));
  const reading =
    (id && count && (({ operations }: Minute) => count(operations[id]))) ??
    (table && ofTable(table, dimension('Operation'))[MetricName]) ??
    ofStage[Namespace === 'AWS/Lambda' ? `account ${MetricName}` : MetricName];
  if (!reading) throw new Error(`There is no ${Namespace} ${MetricName}.`);
  return (minute) => reading(minute) || undefined;
}

const ofStage: Record<string, Reading> = {
  Count: (minute) =>
    toSum(minute, ({ calls, refused }) => calls + refused) +
    (minute.unauthorized + minute.forbidden + minute.throttled + minute.gatewayErrors),
  '5XXError': (minute) =>
    toSum(minute, ({ failed, crashed, refused }) => failed + crashed + refused) +
    minute.gatewayErrors,
  unauthorized: ({ unauthorized }) => unauthorized,
  forbidden: ({ forbidden }) => forbidden,
  throttled: ({ throttled }) => throttled,
  'account ConcurrentExecutions': ({ accountAtOnce }) => accountAtOnce,
};

function toSum({ operations }: Minute, count: (minute: OperationMinute) => number): number {
  return operationIds.reduce((sum, id) => sum + count(operations[id]), 0);
}

const ofOperation: Record<string, (minute: OperationMinute) => number> = {
  Invocations: ({ calls }) => calls,
  Errors: ({ crashed }) => crashed,
  Throttles: ({ refused }) => refused,
  Duration: ({ calls, slowest }) => (calls > 0 ? slowest : 0),
  ConcurrentExecutions: ({ calls, atOnce }) => (calls > 0 ? atOnce : 0),
  ServerErrors: ({ failed }) => failed,
  FirstByte: ({ calls, firstByte }) => (calls > 0 ? firstByte : 0),
};

function ofTable(table: TableName, operation: string): Record<string, Reading> {
  // Made up for one kind of call alone, so that none is counted twice.
  const isFirst = ['GetItem', 'Query'].includes(operation);
  return {
    ReadThrottleEvents: ({ throttles }) => throttles[table] ?? 0,
    WriteThrottleEvents: () => 0,
    TransactionConflict: () => 0,
    SystemErrors: ({ systemErrors }) => (isFirst ? (systemErrors[table] ?? 0) : 0),
  };
}
