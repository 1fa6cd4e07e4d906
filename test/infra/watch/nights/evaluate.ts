import type { Metrics } from './minutes.ts';

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
  const owner = Dimensions.find(({ Name }: AlarmProperties) => /^(Function|Table)Name$/.test(Name));
  const isCount = statistic === 'SampleCount';
  const parts = [
    owner?.Value.replace('petstore-production-', ''),
    MetricName,
    isCount && statistic,
  ];
  const name = parts.filter(Boolean).join(' ');
  if (!(name in (minutes[0] ?? {}))) throw new Error(`There is no metric ${name}.`);
  const all = minutes.map(({ [name]: value }) => value as number | undefined);
  if (isCount || statistic === 'Sum') return defineSum(all);
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
  const names = [...ids, 'IF', 'FILL', 'FLOOR', 'EPOCH'];
  const calculate = new Function(...names, `return ${expression};`);
  return (values, second) =>
    calculate(...values.map((value = Number.NaN) => value), IF, FILL, Math.floor, () => second);
}

const IF = (condition: boolean | number, one: number, other: number) => (condition ? one : other);
const FILL = (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value);
