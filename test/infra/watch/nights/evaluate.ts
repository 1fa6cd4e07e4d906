import type { RateRule } from '../../../../infra/gateway/rateRules.ts';
import { type TableName, tableNames } from '../../../../infra/stages/tables.ts';
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

/** The values of metrics, by name. If nothing happened, a metric has no value, and not 0. */
export type Metrics = Readonly<Record<string, unknown>>;

/** A minute of a stage. */
export interface Minute {
  operations: Record<OperationId, OfOperation>;
  unauthorized: number;
  forbidden: number;
  throttled: number;
  /** 5xx of the gateway itself, spread evenly over the operations. */
  gatewayErrors: number;
  /** Whether the gateway writes its access log. */
  isLogged: boolean;
  now: number;
  /** Metrics that do not follow from these: of tables, of the scheduled check, and of the account. */
  [metric: `${TableName | RateRule['name']} ${string}` | `check${string}`]: number | undefined;
  surplusEntries?: number;
  certificateDays?: number;
  keyDays?: number;
  ConcurrentExecutions: number;
}
const ofTable = ['ReadThrottleEvents', 'WriteThrottleEvents', 'TransactionConflict'];
const rateRules: RateRule['name'][] = ['flood', 'keyless', 'lists-of-key', 'lists-of-address'];
/** The metrics that have no value on an ordinary day. */
const silent = [
  ...tableNames.flatMap((table) => ofTable.map((name) => `${table} ${name}`)),
  ...['checkThrottled', 'surplusEntries', 'certificateDays', 'keyDays'],
  ...rateRules.map((name) => `${name} BlockedRequests`),
];

const silentMetrics = Object.fromEntries(silent.map((name) => [name, undefined]));

/** Some calls of each operation, fast and successful. */
export function toOrdinaryMinute(Invocations: number): Minute {
  return {
    ...silentMetrics,
    operations: mapOperations(() => ({ ...operationMinute, Invocations })),
    ...{ unauthorized: 0, forbidden: 0, throttled: 0, gatewayErrors: 0 },
    ...{ isLogged: true, now: daysBeforeSunset(300) },
    ...{ 'check Errors': 0, ConcurrentExecutions: 20 },
  };
}

/** An operation's metrics, named here once: to make them for each minute takes longer than all else. */
const metricNames = mapOperations((id) => ({
  ...{ requests: `${id}Requests`, failures: `${id}Failures`, clientErrors: `${id}ClientErrors` },
  ...{ invocations: `${id} Invocations`, errors: `${id} Errors`, throttles: `${id} Throttles` },
  ...{ duration: `${id} Duration`, firstByte: `${id}FirstByte` },
  concurrentExecutions: `${id} ConcurrentExecutions`,
}));

/** Minutes between the scheduled checks, each of which calls every operation once. */
const CHECK_EVERY = 5;

/**
 * What CloudWatch has of a minute.
 * @param index the minute's place, which tells when the check runs
 */
export function toMetrics(minute: Minute, index: number): Metrics {
  const { unauthorized, forbidden, throttled, gatewayErrors, isLogged } = minute;
  const isChecked = minute['check Errors'] !== undefined && index % CHECK_EVERY === 0;
  let [count, errors, requested] = [unauthorized + forbidden + throttled, 0, 0];
  const metrics: Record<string, unknown> = { ...minute };
  const add = (name: string, value: number) => {
    metrics[name] = value || undefined;
  };
  add('unauthorized', unauthorized);
  add('forbidden', forbidden);
  add('throttled', throttled);
  for (const [place, id] of operationIds.entries()) {
    const { Invocations, ServerErrors, ClientErrors, Errors, Throttles, ...times } =
      minute.operations[id];
    const ofGateway = Math.ceil((gatewayErrors - place) / operationIds.length);
    const requests = Invocations + Throttles + ofGateway;
    const failures = ServerErrors + Errors + Throttles + ofGateway;
    count += requests;
    errors += failures;
    requested += requests;
    const names = metricNames[id];
    // From the access log, without the check's requests.
    add(names.requests, isLogged ? requests : 0);
    add(names.failures, isLogged ? failures : 0);
    add(names.clientErrors, isLogged ? ClientErrors : 0);
    add(names.invocations, Invocations + (isChecked ? 1 : 0));
    add(names.errors, Errors);
    add(names.throttles, Throttles);
    // Without calls there are no times and no concurrency.
    add(names.duration, Invocations && times.Duration);
    add(names.firstByte, Invocations && times.FirstByte);
    add(names.concurrentExecutions, Invocations && times.ConcurrentExecutions);
  }
  const lines = count + (minute['check Errors'] === undefined ? 0 : 1);
  add('Count', count);
  add('requests', isLogged ? requested : 0);
  add('5XXError', errors);
  add('IncomingLogEvents', isLogged ? lines : 0);
  return metrics;
}

// biome-ignore lint/suspicious/noExplicitAny: a template is JSON of any shape
type AlarmProperties = any;

/** Where data is missing, CloudWatch looks at some older periods too. */
const OLDER_PERIODS = 2;

/**
 * Whether the alarm fires after each minute. CloudWatch evaluates an alarm every minute, for any period, and its window
 * slides along: at minute 61, the hour began at minute 1.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-limits.html
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation-window.html
 * It takes the newest values that exist, also from before the evaluated periods. Only if there are too few, the
 * treatment of missing data counts.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
 * @param start the first minute that counts; windows look back on those before
 */
export function toStates(
  alarm: AlarmProperties,
  minutes: readonly Metrics[],
  start = 0,
): boolean[] {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold } = alarm;
  const [period] = alarm.Metrics.flatMap(
    ({ MetricStat }: AlarmProperties) => MetricStat?.Period ?? [],
  );
  const length = period / 60;
  const isBreaching = comparisons[alarm.ComparisonOperator];
  if (!isBreaching) throw new Error(`There is no comparison ${alarm.ComparisonOperator}.`);
  const toValue = defineValue(alarm, minutes);
  // An alarm on a metric of DynamoDB ignores missing data, whatever its settings.
  const isIgnored = JSON.stringify(alarm).includes('AWS/DynamoDB');
  const breaches = new Map<number, boolean | undefined>();
  /** Whether the period that ends before a minute breaches. One that begins before the first minute does not. */
  const toBreach = (end: number) => {
    if (end < length) return false;
    if (!breaches.has(end)) {
      const value = toValue(end - length, end);
      const isMissing = value === undefined || Number.isNaN(value);
      breaches.set(end, isMissing ? undefined : isBreaching(value, Threshold));
    }
    return breaches.get(end);
  };
  let isFiring = false;
  return Array.from({ length: minutes.length - start }, (_, index) => {
    const known: boolean[] = [];
    for (let ago = 0; ago < EvaluationPeriods + OLDER_PERIODS; ago += 1) {
      if (known.length === EvaluationPeriods) break;
      const breach = toBreach(start + index + 1 - ago * length);
      if (breach !== undefined) known.push(breach);
    }
    const missing = EvaluationPeriods - known.length;
    if (missing === 0 || !isIgnored) {
      const filled = alarm.TreatMissingData === 'breaching' ? missing : 0;
      isFiring = known.filter(Boolean).length + filled >= DatapointsToAlarm;
    }
    return isFiring;
  });
}

const comparisons: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

/** The value that an alarm compares, over a range of minutes; `end` is excluded. */
export function defineValue(
  alarm: AlarmProperties,
  minutes: readonly Metrics[],
): (from: number, end: number) => number | undefined {
  const { Id: returned, Expression = returned } = alarm.Metrics.find(
    ({ ReturnData = true }) => ReturnData,
  );
  const stats = alarm.Metrics.filter(({ MetricStat }: AlarmProperties) => MetricStat);
  const reads = stats.map(({ MetricStat: { Metric, Stat } }: AlarmProperties) =>
    readMetric(Metric, Stat, minutes),
  );
  const ids: string[] = stats.map(({ Id }: AlarmProperties) => Id);
  const inner = alarm.Metrics.filter(
    (one: AlarmProperties) => one.Expression && one.ReturnData === false,
  );
  const parts = inner.map((one: AlarmProperties) => compile(ids, one.Expression));
  const calculate = compile([...ids, ...inner.map(({ Id }: AlarmProperties) => Id)], Expression);
  return (from, end) => {
    const values = reads.map((read: (from: number, end: number) => number) => read(from, end));
    const results = parts.map((calculatePart: ReturnType<typeof compile>) => calculatePart(values));
    return calculate([...values, ...results], Number(minutes[from]?.now) / 1_000);
  };
}

/**
 * CloudWatch's value of a metric over a range of minutes: sum, maximum or minimum; `undefined` without values.
 * @throws {Error} when the minutes do not have the metric
 */
function readMetric(
  { MetricName, Dimensions = [] }: AlarmProperties,
  statistic: string,
  minutes: readonly Metrics[],
): (from: number, end: number) => number | undefined {
  const owner = Dimensions.find(({ Name }: AlarmProperties) =>
    /^(FunctionName|TableName|Rule)$/.test(Name),
  );
  const parts = [owner?.Value.replace('petstore-production-', ''), MetricName];
  const name = parts.filter(Boolean).join(' ');
  if (!(name in (minutes[0] ?? {}))) throw new Error(`There is no metric ${name}.`);
  const all = minutes.map(({ [name]: value }) => value as number | undefined);
  if (statistic === 'Sum') return defineSum(all);
  return (from, end) => {
    const values = all.slice(from, end).filter((value) => value !== undefined);
    if (values.length === 0) return undefined;
    return statistic === 'Minimum' ? Math.min(...values) : Math.max(...values);
  };
}

/** The sum of a range of values; as fast for a day as for a minute, since it adds up all values only once. */
function defineSum(all: readonly (number | undefined)[]) {
  let [sum, known] = [0, 0];
  const upTo = [
    [sum, known],
    ...all.map((value) => {
      if (value !== undefined) [sum, known] = [sum + value, known + 1];
      return [sum, known];
    }),
  ] as const;
  return (from: number, end: number) => {
    const [[before = 0, knownBefore] = [], [after = 0, knownAfter] = []] = [upTo[from], upTo[end]];
    return knownAfter === knownBefore ? undefined : after - before;
  };
}

/**
 * The part of CloudWatch's metric math that the alarms use. A result of a missing value is missing too.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 * @returns a function of the values of the ids, and of the time in seconds since the epoch
 */
export function compile(
  ids: readonly string[],
  expression: string,
): (values: readonly (number | undefined)[], second?: number) => number {
  const names = [...ids, 'IF', 'FILL', 'MAX', 'EPOCH'];
  const calculate = new Function(...names, `return ${expression};`);
  return (values, second) =>
    calculate(...values.map((value = Number.NaN) => value), IF, FILL, MAX, () => second);
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const MAX = (values: readonly number[]) => Math.max(...values);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
