import type { RateRule } from '../../../../../infra/gateway/rateRules.ts';
import { type TableName, tableNames } from '../../../../../infra/stages/tables.ts';
import type { Operation } from '../../../../../shared/contract/operation.ts';
import {
  mapOperations,
  type OperationId,
  operationIds,
  operations,
} from '../../../../../shared/contract/operations.ts';

/**
 * An operation's metrics of a minute, by name. ServerErrors are the handler's own 5xx, ClientErrors some of its 4xx,
 * Errors crashes and timeouts.
 * Throttles are calls that Lambda refused, and the gateway returns 5xx. Times are in milliseconds.
 */
const operationMinute = {
  Invocations: 0,
  ServerErrors: 0,
  ClientErrors: 0,
  Errors: 0,
  Throttles: 0,
  Duration: 150,
  FirstByte: 250,
  ConcurrentExecutions: 2,
};
export type OfOperation = typeof operationMinute;

const sunsets = Object.values<Operation>(operations).flatMap(({ lifecycle }) =>
  lifecycle.kind === 'deprecated' ? [lifecycle.sunset.getTime()] : [],
);
const firstSunset = sunsets.length > 0 ? Math.min(...sunsets) : Date.UTC(2027, 11, 1);
/** A time this many days before the first deprecated operation may go, or before a day if no operation is deprecated. */
export const daysBeforeSunset = (days: number) => firstSunset - days * 86_400_000;

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
const withoutValue: readonly string[] = [
  ...tableNames.flatMap((table) => ofTable.map((name) => `${table} ${name}`)),
  ...['checkThrottled', 'surplusEntries', 'certificateDays', 'keyDays'],
  ...rateRules.map((name) => `${name} BlockedRequests`),
];

/** Some calls of each operation, fast and successful. */
export function toOrdinaryMinute(Invocations: number): Minute {
  return {
    operations: mapOperations(() => ({ ...operationMinute, Invocations })),
    unauthorized: 0,
    forbidden: 0,
    throttled: 0,
    gatewayErrors: 0,
    isLogged: true,
    now: daysBeforeSunset(300),
    'check Errors': 0,
    ConcurrentExecutions: 20,
  };
}

/** Minutes between the scheduled checks, each of which calls every operation once. */
const CHECK_EVERY = 5;
const hasCheck = (minute: Minute) => minute['check Errors'] !== undefined;

type Count = (minute: Minute, place: number) => number;
const ofGateway: Count = ({ gatewayErrors }, place) =>
  Math.ceil((gatewayErrors - place) / operationIds.length);
const ofPlace = ({ operations }: Minute, place: number) =>
  operations[operationIds[place] as OperationId];
const requestsOf: Count = (minute, place) => {
  const { Invocations, Throttles } = ofPlace(minute, place);
  return Invocations + Throttles + ofGateway(minute, place);
};
const failuresOf: Count = (minute, place) => {
  const { ServerErrors, Errors, Throttles } = ofPlace(minute, place);
  return ServerErrors + Errors + Throttles + ofGateway(minute, place);
};
const ofAll = (minute: Minute, count: Count) =>
  operationIds.reduce((sum, _, place) => sum + count(minute, place), 0);
const countOf = (minute: Minute) =>
  minute.unauthorized + minute.forbidden + minute.throttled + ofAll(minute, requestsOf);

/**
 * The metrics that follow from a minute and its place, which says whether the check runs. CloudWatch has no value where
 * these have 0.
 */
const counted = new Map<string, (minute: Minute, index: number) => number>([
  ['unauthorized', ({ unauthorized }) => unauthorized],
  ['forbidden', ({ forbidden }) => forbidden],
  ['throttled', ({ throttled }) => throttled],
  ['Count', countOf],
  ['requests', (minute) => (minute.isLogged ? ofAll(minute, requestsOf) : 0)],
  ['5XXError', (minute) => ofAll(minute, failuresOf)],
  [
    'IncomingLogEvents',
    (minute) => (minute.isLogged ? countOf(minute) + (hasCheck(minute) ? 1 : 0) : 0),
  ],
  ...operationIds.flatMap((id, place): [string, (minute: Minute, index: number) => number][] => {
    // Without calls there are no times and no concurrency.
    const whenCalled = (name: 'Duration' | 'FirstByte' | 'ConcurrentExecutions') => {
      return ({ operations: { [id]: one } }: Minute) => one.Invocations && one[name];
    };
    return [
      // From the access log, without the check's requests.
      [`${id}Requests`, (minute) => (minute.isLogged ? requestsOf(minute, place) : 0)],
      [`${id}Failures`, (minute) => (minute.isLogged ? failuresOf(minute, place) : 0)],
      [
        `${id}ClientErrors`,
        ({ isLogged, operations }) => (isLogged ? operations[id].ClientErrors : 0),
      ],
      [
        `${id} Invocations`,
        (minute, index) =>
          minute.operations[id].Invocations +
          (hasCheck(minute) && index % CHECK_EVERY === 0 ? 1 : 0),
      ],
      [`${id} Errors`, ({ operations }) => operations[id].Errors],
      [`${id} Throttles`, ({ operations }) => operations[id].Throttles],
      [`${id} Duration`, whenCalled('Duration')],
      [`${id}FirstByte`, whenCalled('FirstByte')],
      [`${id} ConcurrentExecutions`, whenCalled('ConcurrentExecutions')],
    ];
  }),
]);

/**
 * CloudWatch's values of a metric. If nothing happened, it has no value, and not 0.
 * @throws {Error} when the minutes do not have the metric
 */
function toValues(name: string, minutes: readonly Minute[]): (number | undefined)[] {
  const count = counted.get(name);
  if (count) return minutes.map((minute, index) => count(minute, index) || undefined);
  if (!(withoutValue.includes(name) || name in (minutes[0] ?? {})))
    throw new Error(`There is no metric ${name}.`);
  return minutes.map(({ [name as keyof Minute]: value }) => value as number | undefined);
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
export function toStates(alarm: AlarmProperties, minutes: readonly Minute[], start = 0): boolean[] {
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
  const breaches: (boolean | undefined)[] = [];
  /** Whether the period that ends before a minute breaches. One that begins before the first minute does not. */
  const toBreach = (end: number) => {
    if (end < length) return false;
    if (!(end in breaches)) {
      const value = toValue(end - length, end);
      const isMissing = value === undefined || Number.isNaN(value);
      breaches[end] = isMissing ? undefined : isBreaching(value, Threshold);
    }
    return breaches[end];
  };
  let isFiring = false;
  return Array.from({ length: minutes.length - start }, (_, index) => {
    let [missing, breaching] = [EvaluationPeriods, 0];
    for (let ago = 0; missing > 0 && ago < EvaluationPeriods + OLDER_PERIODS; ago += 1) {
      const breach = toBreach(start + index + 1 - ago * length);
      if (breach !== undefined) missing -= 1;
      if (breach) breaching += 1;
    }
    if (missing === 0 || !isIgnored) {
      const filled = alarm.TreatMissingData === 'breaching' ? missing : 0;
      isFiring = breaching + filled >= DatapointsToAlarm;
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
  minutes: readonly Minute[],
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
    for (const calculatePart of parts) values.push(calculatePart(values));
    return calculate(values, Number(minutes[from]?.now) / 1_000);
  };
}

/** CloudWatch's value of a metric over a range of minutes: sum, maximum or minimum; `undefined` without values. */
function readMetric(
  { MetricName, Dimensions = [] }: AlarmProperties,
  statistic: string,
  minutes: readonly Minute[],
): Read {
  const owner = Dimensions.find(({ Name }: AlarmProperties) =>
    /^(FunctionName|TableName|Rule)$/.test(Name),
  );
  const parts = [owner?.Value.replace('petstore-production-', ''), MetricName];
  const name = parts.filter(Boolean).join(' ');
  // Many alarms look at the same metric.
  const known = reads.get(minutes) ?? new Map<string, Read>();
  reads.set(minutes, known);
  const key = `${statistic} ${name}`;
  const read = known.get(key) ?? defineRead(toValues(name, minutes), statistic);
  known.set(key, read);
  return read;
}

type Read = (from: number, end: number) => number | undefined;
/** By minutes, which do not change once they are read, then by statistic and metric. */
const reads = new WeakMap<readonly Minute[], Map<string, Read>>();

function defineRead(all: readonly (number | undefined)[], statistic: string): Read {
  if (statistic === 'Sum') return defineSum(all);
  return (from, end) => {
    const values = all.slice(from, end).filter((value) => value !== undefined);
    if (values.length === 0) return undefined;
    return statistic === 'Minimum' ? Math.min(...values) : Math.max(...values);
  };
}

/** The sum of a range of values; as fast for a day as for a minute, since it adds up all values only once. */
function defineSum(all: readonly (number | undefined)[]) {
  const sums = new Float64Array(all.length + 1);
  const counts = new Uint32Array(all.length + 1);
  for (const [index, value] of all.entries()) {
    sums[index + 1] = Number(sums[index]) + (value ?? 0);
    counts[index + 1] = Number(counts[index]) + (value === undefined ? 0 : 1);
  }
  return (from: number, end: number) =>
    counts[end] === counts[from] ? undefined : Number(sums[end]) - Number(sums[from]);
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
  const parts = ids.map((id, index) => `const ${id} = values[${index}] ?? NaN;`);
  const body = `${parts.join('')} return ${expression};`;
  const calculate = new Function('values', 'IF', 'FILL', 'MAX', 'EPOCH', body);
  return (values, second) => calculate(values, IF, FILL, MAX, () => second);
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const MAX = (values: readonly number[]) => Math.max(...values);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
