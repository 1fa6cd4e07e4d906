import { type TableName, tableNames } from '../../../../infra/stages/tables.ts';
import {
  DAYS_AHEAD,
  type End,
  ends,
  toDaysMetricName,
} from '../../../../infra/watch/check/checkMetrics.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';

/**
 * What an operation sees in a minute, by the names of its metrics: first the answers of 5xx that the handler made, then
 * crashes and timeouts, and calls that Lambda refused, which the gateway answers by 5xx. Times are in milliseconds.
 */
const operationMinute = {
  ...{ Invocations: 0, ServerErrors: 0, Errors: 0, Throttles: 0 },
  ...{ Duration: 150, FirstByte: 250, ConcurrentExecutions: 2 },
};
export type OperationMinute = typeof operationMinute;

const sunsets = Object.values(operations).flatMap(({ lifecycle }) =>
  lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [],
);
/** As many days before the first deprecated operation may go. */
export const daysBeforeSunset = (days: number) => Math.min(...sunsets) - days * 86_400_000;

/** A minute of a stage: some calls of each operation, quick and right. */
export function toOrdinaryMinute(calls: number) {
  const Invocations = Math.round(calls / operationIds.length);
  return {
    operations: mapOperations(() => ({ ...operationMinute, Invocations })),
    ...{ unauthorized: 0, forbidden: 0, throttled: 0 },
    /** 5xx that the gateway made by itself, of the operations alike. */
    gatewayErrors: 0,
    /** Calls that run at once in the account. */
    accountAtOnce: 20,
    /** Reads that DynamoDB refused for their rate, and its own failures. */
    throttles: {} as Partial<Record<TableName, number>>,
    systemErrors: {} as Partial<Record<TableName, number>>,
    /** How the scheduled check ended, and the days until an end, as it tells them. */
    check: 'passed' as 'passed' | 'throttled' | 'failed' | 'none',
    days: { certificate: 200, key: 90 } satisfies Record<End, number>,
    /** Entries past those that the stage is to bear, as it tells them. */
    surplusEntries: 0,
    now: daysBeforeSunset(300),
  };
}
export type Minute = ReturnType<typeof toOrdinaryMinute>;

/** A metric as a template has it. */
export interface TemplateMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
}

/**
 * What CloudWatch has of a metric from a minute to before another: a sum, the largest or the smallest; nothing
 * without values.
 * @throws {Error} when the metric is one that nobody made up
 */
export function readMetric(
  metric: TemplateMetric,
  statistic: string,
  minutes: readonly Minute[],
): (from: number, end: number) => number | undefined {
  const all = minutes.map(toReading(metric));
  return (from, end) => {
    const values = all.slice(from, end).filter((value) => value !== undefined);
    if (values.length === 0) return undefined;
    if (statistic === 'Minimum') return Math.min(...values);
    const isLargest = statistic === 'Maximum' || /^p\d/.test(statistic);
    return isLargest ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  };
}

/** Nothing, where nothing happened: a metric has no value then, and not 0. What the check tells has its zeros. */
type Reading = (minute: Minute) => number | undefined;

function toReading({ Namespace, MetricName, Dimensions = [] }: TemplateMetric): Reading {
  const dimension = (name: string) => Dimensions.find((one) => one.Name === name)?.Value ?? '';
  const end = ends.find((one) => toDaysMetricName(one) === MetricName);
  if (end) {
    return ({ check, days }) =>
      check !== 'none' && days[end] <= DAYS_AHEAD ? days[end] : undefined;
  }
  const functionName = dimension('FunctionName');
  if (functionName === 'petstore-production-check') {
    return ({ check }) => ({ passed: 0, throttled: 0, failed: 1, none: undefined })[check];
  }
  const id = operationIds.find((one) => `${functionName} ${MetricName}`.includes(one));
  const table = tableNames.find((one) => dimension('TableName').endsWith(one));
  const reading =
    (id && ofOperation(id, MetricName.replace(id, ''))) ??
    (table && ofTable(table, dimension('Operation'))[MetricName]) ??
    ofStage[Namespace === 'AWS/Lambda' ? `account ${MetricName}` : MetricName];
  if (!reading) throw new Error(`There is no ${Namespace} ${MetricName}.`);
  return (minute) => reading(minute) || undefined;
}

const ofStage: Record<string, Reading> = {
  Count: (minute) =>
    toSum(minute, ({ Invocations, Throttles }) => Invocations + Throttles) +
    (minute.unauthorized + minute.forbidden + minute.throttled + minute.gatewayErrors),
  '5XXError': (minute) =>
    toSum(minute, ({ ServerErrors, Errors, Throttles }) => ServerErrors + Errors + Throttles) +
    minute.gatewayErrors,
  unauthorized: ({ unauthorized }) => unauthorized,
  forbidden: ({ forbidden }) => forbidden,
  throttled: ({ throttled }) => throttled,
  checkThrottled: ({ check }) => Number(check === 'throttled'),
  surplusEntries: (minute) => minute.surplusEntries,
  'account ConcurrentExecutions': ({ accountAtOnce }) => accountAtOnce,
};

function toSum({ operations }: Minute, count: (minute: OperationMinute) => number): number {
  return operationIds.reduce((sum, id) => sum + count(operations[id]), 0);
}

/** Without calls there are no times, and nothing runs at once. */
function ofOperation(id: OperationId, name: string): Reading {
  const isOfCalls = ['Duration', 'FirstByte', 'ConcurrentExecutions'].includes(name);
  return ({ operations: { [id]: minute }, gatewayErrors }) => {
    const { Invocations, ServerErrors, Errors, Throttles } = minute;
    const ofGateway = gatewayErrors / operationIds.length;
    // What the access log has of clients; the check's requests are in none of it.
    if (name === 'Requests') return Invocations + Throttles + ofGateway;
    if (name === 'Failures') return ServerErrors + Errors + Throttles + ofGateway;
    return isOfCalls && Invocations === 0 ? 0 : minute[name as keyof OperationMinute];
  };
}

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
