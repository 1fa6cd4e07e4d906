import { type TableName, tableNames } from '../../../../infra/stages/tables.ts';
import {
  DAYS_AHEAD,
  type End,
  toDaysMetricName,
} from '../../../../infra/watch/check/checkMetrics.ts';
import type { Operation } from '../../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../shared/contract/operations.ts';

/**
 * An operation's metrics of a minute, by name. ServerErrors are the handler's own 5xx, ClientErrors some of its 4xx,
 * Errors crashes and timeouts.
 * Throttles are calls that Lambda refused, and the gateway returns 5xx. Times are in milliseconds.
 */
const operationMinute = {
  ...{ Invocations: 0, ServerErrors: 0, ClientErrors: 0, Errors: 0, Throttles: 0 },
  ...{ Duration: 150, FirstByte: 250, ConcurrentExecutions: 2 },
};
export type OfOperation = typeof operationMinute;

const sunsets = Object.values<Operation>(operations).flatMap(({ lifecycle }) =>
  lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [],
);
/** A time this many days before the first deprecated operation may go. */
export const daysBeforeSunset = (days: number) => Math.min(...sunsets) - days * 86_400_000;

/** A minute of a stage: some calls of each operation, fast and successful. */
export function toOrdinaryMinute(calls: number) {
  const Invocations = Math.round(calls / operationIds.length);
  return {
    operations: mapOperations(() => ({ ...operationMinute, Invocations })),
    ...{ unauthorized: 0, forbidden: 0, throttled: 0 },
    /** 5xx of the gateway itself, spread evenly over the operations. */
    gatewayErrors: 0,
    /** Concurrent calls in the account. */
    accountAtOnce: 20,
    /** Whether the gateway writes its access log. */
    isLogged: true,
    /** Reads that DynamoDB throttled. */
    throttles: {} as Partial<Record<TableName, number>>,
    /** Updates that met another transaction on their entry. */
    conflicts: 0,
    /** The scheduled check's result, and the days until an end that it reports. */
    check: 'passed' as 'passed' | 'throttled' | 'failed' | 'none',
    days: { certificate: 200, key: 90 } satisfies Record<End, number>,
    /** Entries beyond `inventoryEntries`, as the check reports them. */
    surplusEntries: 0,
    now: daysBeforeSunset(300),
  };
}
export type Minute = ReturnType<typeof toOrdinaryMinute>;

interface TemplateMetric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
}

/**
 * CloudWatch's value of a metric over a range of minutes, `end` excluded: sum, maximum or minimum. Undefined
 * without values.
 * @throws {Error} when the minutes do not have the metric
 */
export function readMetric(
  metric: TemplateMetric,
  statistic: string,
  minutes: readonly Minute[],
): (from: number, end: number) => number | undefined {
  const isCount = statistic === 'SampleCount';
  const MetricName = isCount ? `${metric.MetricName}Samples` : metric.MetricName;
  const all = minutes.map(toReading({ ...metric, MetricName }));
  if (isCount || statistic === 'Sum') {
    const sums = [0];
    const counts = [0];
    for (const [index, value] of all.entries()) {
      sums.push(Number(sums[index]) + (value ?? 0));
      counts.push(Number(counts[index]) + (value === undefined ? 0 : 1));
    }
    const between = (totals: number[], from: number, end: number) =>
      Number(totals[end]) - Number(totals[from]);
    return (from, end) => (between(counts, from, end) === 0 ? undefined : between(sums, from, end));
  }
  return (from, end) => {
    const values = all.slice(from, end).filter((value) => value !== undefined);
    if (values.length === 0) return undefined;
    if (statistic === 'Minimum') return Math.min(...values);
    return Math.max(...values);
  };
}

/** If nothing happened, a metric has no value, and not 0. The check's own metrics do have zeros. */
type Reading = (minute: Minute) => number | undefined;

function toReading({ Namespace, MetricName, Dimensions = [] }: TemplateMetric): Reading {
  const dimension = (name: string) => Dimensions.find((one) => one.Name === name)?.Value ?? '';
  const end = (['certificate', 'key'] as const).find((one) => toDaysMetricName(one) === MetricName);
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
    (table && ofTable[MetricName]?.(table)) ??
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
  IncomingLogEvents: (minute) =>
    minute.isLogged ? Number(ofStage.Count?.(minute)) + Number(minute.check !== 'none') : 0,
  refused: ({ unauthorized, throttled }) => unauthorized + 1e10 * throttled,
  refusedSamples: ({ unauthorized, throttled, forbidden }) => unauthorized + throttled + forbidden,
  checkThrottled: ({ check }) => Number(check === 'throttled'),
  surplusEntries: (minute) => minute.surplusEntries,
  'account ConcurrentExecutions': ({ accountAtOnce }) => accountAtOnce,
};

function toSum({ operations }: Minute, count: (minute: OfOperation) => number): number {
  return operationIds.reduce((sum, id) => sum + count(operations[id]), 0);
}

/** Without calls there are no times and no concurrency. */
function ofOperation(id: OperationId, name: string): Reading {
  const isOfCalls = ['Duration', 'FirstByte', 'ConcurrentExecutions'].includes(name);
  return ({ operations: { [id]: minute }, gatewayErrors, isLogged }) => {
    if (!isLogged && name.startsWith('Requests')) return 0;
    const { Invocations, ServerErrors, ClientErrors, Errors, Throttles } = minute;
    const place = operationIds.indexOf(id);
    const ofGateway = Math.ceil((gatewayErrors - place) / operationIds.length);
    // From the access log, without the check's requests.
    const requests = Invocations + Throttles + ofGateway;
    const failures = ServerErrors + Errors + Throttles + ofGateway;
    if (name === 'Requests') return requests + 1e10 * failures;
    if (name === 'RequestsSamples') return requests + failures + ClientErrors;
    return isOfCalls && Invocations === 0 ? 0 : minute[name as keyof OfOperation];
  };
}

const ofTable: Record<string, (table: TableName) => Reading> = {
  ReadThrottleEvents:
    (table) =>
    ({ throttles }) =>
      throttles[table] ?? 0,
  WriteThrottleEvents: () => () => 0,
  TransactionConflict:
    () =>
    ({ conflicts }) =>
      conflicts,
};
