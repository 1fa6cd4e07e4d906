import { type Minute, readMetric, type TemplateMetric } from './minutes.ts';

/** An alarm that fired. */
export interface FiredAlarm {
  /** Without the stage. */
  readonly name: string;
  readonly severity: 'Page' | 'Ticket';
  /** After how many minutes; it is looked at as each of its periods ends. */
  readonly minute: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a template is read as the JSON that it is
type AlarmProperties = any;

/** The first time that each alarm fires in the course of the minutes, as CloudWatch evaluates it. */
export function evaluateAlarms(
  alarms: readonly AlarmProperties[],
  minutes: readonly Minute[],
): FiredAlarm[] {
  return alarms.flatMap((alarm) => {
    const minute = findFiring(alarm, minutes);
    const [severity = ''] = alarm.AlarmDescription.split(':');
    const name = alarm.AlarmName.replace('petstore-production-', '');
    return minute === undefined
      ? []
      : [{ name, severity: severity as FiredAlarm['severity'], minute }];
  });
}

function findFiring(alarm: AlarmProperties, minutes: readonly Minute[]): number | undefined {
  const { EvaluationPeriods, DatapointsToAlarm = EvaluationPeriods, Threshold } = alarm;
  const length = toPeriod(alarm) / 60;
  const isBreaching = comparisons[alarm.ComparisonOperator];
  if (!isBreaching) throw new Error(`There is no comparison ${alarm.ComparisonOperator}.`);
  const breaches: boolean[] = [];
  for (let start = 0; start + length <= minutes.length; start += length) {
    const value = toValue(alarm, minutes.slice(start, start + length));
    const isMissing = value === undefined || Number.isNaN(value);
    if (isMissing) breaches.push(alarm.TreatMissingData === 'breaching');
    else breaches.push(isBreaching(value, Threshold));
    const last = breaches.slice(-EvaluationPeriods);
    if (last.filter(Boolean).length >= DatapointsToAlarm) return start + length;
  }
  return undefined;
}

const comparisons: Record<string, (value: number, threshold: number) => boolean> = {
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanOrEqualToThreshold: (value, threshold) => value <= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
};

function toPeriod({ Period, Metrics = [] }: AlarmProperties): number {
  const stats = Metrics.flatMap(({ MetricStat }: AlarmProperties) => MetricStat?.Period ?? []);
  return Period ?? stats[0];
}

function toValue(alarm: AlarmProperties, period: readonly Minute[]): number | undefined {
  if (!alarm.Metrics) {
    return readMetric(alarm as TemplateMetric, alarm.Statistic ?? alarm.ExtendedStatistic, period);
  }
  const [{ Id: returned, Expression = returned }] = alarm.Metrics.filter(
    ({ ReturnData = true }) => ReturnData,
  );
  const values: Record<string, number | undefined> = {};
  for (const { Id, MetricStat } of alarm.Metrics) {
    if (MetricStat) values[Id] = readMetric(MetricStat.Metric, MetricStat.Stat, period);
  }
  return calculate(Expression, values);
}

/**
 * The part of CloudWatch's metric math that the alarms use. What is calculated with a value that is
 * missing is missing too.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 */
function calculate(
  expression: string,
  values: Readonly<Record<string, number | undefined>>,
): number | undefined {
  const functions = {
    IF: (condition: boolean | number, one: number, other: number) => (condition ? one : other),
    FILL: (value: number, otherwise: number) => (Number.isNaN(value) ? otherwise : value),
  };
  const scope = {
    ...functions,
    ...Object.fromEntries(Object.entries(values).map(([id, value]) => [id, value ?? Number.NaN])),
  };
  return new Function(...Object.keys(scope), `return ${expression};`)(...Object.values(scope));
}
